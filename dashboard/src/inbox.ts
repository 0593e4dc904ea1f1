// Where a local stack shows the emails that it sent; undefined in a deployment.

export const INBOX = document.querySelector<HTMLMetaElement>("meta[name=inbox]")?.content;
