// What a hostile web page does to servers. It returns a line for everything that it could read.
async ({ servers, requests, seconds }) => {
  const read = [];
  const limit = () => AbortSignal.timeout(seconds * 1000);
  const wait = (element, good) => new Promise((resolve) => {
    element.addEventListener(good, () => resolve(true));
    element.addEventListener("error", () => resolve(false));
    setTimeout(() => resolve(false), seconds * 1000);
  });

  async function call(server, { method, path, headers, body }, mode) {
    const options = { method, headers, body, mode, signal: limit(), credentials: "include" };
    try {
      const response = await fetch(server + path, options);
      if (response.type === "opaque") return;
      read.push(`${method} ${server}${path} ${response.status} ${await response.text()}`);
    } catch { /* The browser kept the response, or there was none. */ }
  }

  function form(server, { path, body }, type) {
    const target = document.createElement("iframe");
    target.name = `frame${Math.random()}`;
    const sheet = document.createElement("form");
    Object.assign(sheet, { method: "post", enctype: type, action: server + path });
    sheet.target = target.name;
    const pairs = type === "text/plain" ? [[body, ""]] : [...new URLSearchParams(body)];
    for (const [name, value] of pairs) {
      sheet.append(Object.assign(document.createElement("input"), { type: "hidden", name, value }));
    }
    document.body.append(target, sheet);
    const loaded = wait(target, "load");
    sheet.submit();
    return loaded;
  }

  async function embed(server, tag, path) {
    const element = document.createElement(tag);
    const loaded = wait(element, "load");
    if (tag === "link") Object.assign(element, { rel: "stylesheet", href: server + path });
    else element.src = server + path;
    document.body.append(element);
    if (await loaded) read.push(`${tag} ${server}${path} loaded`);
  }

  async function frame(server, path) {
    const element = document.createElement("iframe");
    element.src = server + path;
    document.body.append(element);
    await wait(element, "load");
    let text = "";
    try { text = element.contentDocument.body.textContent; } catch { /* another origin */ }
    if (text) read.push(`frame ${server}${path} ${text}`);
  }

  async function listen(kind, url, good) {
    let source;
    try { source = new kind(url); } catch { return; }
    if (await wait(source, good)) read.push(`${kind.name} ${url} opened`);
    source.close();
  }

  function attack(server) {
    const attempts = [
      listen(WebSocket, `${server.replace("http", "ws")}/`, "open"),
      listen(EventSource, `${server}/events`, "open"),
      listen(EventSource, `${server}/webhooks/events`, "open"),
    ];
    for (const request of requests) {
      attempts.push(call(server, request, "cors"));
      const simple = ["GET", "POST"].includes(request.method);
      if (simple) attempts.push(call(server, { ...request, headers: undefined }, "no-cors"));
      if (request.method === "GET") {
        for (const tag of ["img", "script", "link"]) {
          attempts.push(embed(server, tag, request.path));
        }
        attempts.push(frame(server, request.path));
      }
      if (request.method === "POST") {
        attempts.push(form(server, request, "text/plain"));
        attempts.push(form(server, request, "application/x-www-form-urlencoded"));
      }
    }
    return Promise.all(attempts);
  }

  await Promise.all(servers.map(attack));
  return read;
}
