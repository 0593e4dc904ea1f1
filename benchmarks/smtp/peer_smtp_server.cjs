// nodemailer's smtp-server with handlers that answer at once.
const fs = require("fs");
const { SMTPServer } = require("smtp-server");
const [folder, port] = process.argv.slice(2);

new SMTPServer({
  key: fs.readFileSync(`${folder}/key.pem`),
  cert: fs.readFileSync(`${folder}/cert.pem`),
  size: 32 * 1024 * 1024,
  disableReverseLookup: true,
  onAuth: (auth, session, done) => done(null, { user: "apikey" }),
  onData: (stream, session, done) => {
    stream.resume();
    stream.on("end", () => done(null, "queued"));
  },
}).listen(Number(port), "127.0.0.1");
