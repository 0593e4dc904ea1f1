// What an agent's email is, for the owner who decides whether it is sent.

import { Facts } from "../parts/basics";
import { Progress } from "../parts/notice";
import { useResource } from "../resource";
import { Frame } from "../templates/preview";

export function HeldContent({ id }: { id: string }) {
  const content = useResource("GET /v1/emails/{message_id}/content", { path: { message_id: id } });
  const { data } = content;
  const facts = data && {
    From: data.fromName ? `${data.fromName} <${data.from}>` : data.from,
    To: data.to.join(", "),
    Cc: data.cc.join(", "),
    Bcc: data.bcc.join(", "),
    Subject: data.subject,
    "Replies to": data.replyTo,
    ...data.headers,
    Files: data.attachments.map(({ filename, bytes }) => `${filename} (${bytes.toLocaleString("en-GB")} bytes)`).join(", "),
  };
  return (
    <section class="content" aria-label="What it says">
      <Progress of={content} />
      {facts && <Facts of={facts} />}
      {data?.html && <Frame html={data.html} scheme="light" device="desktop" images={false} />}
      {data && (
        <details open={!data.html}>
          <summary>{data.html ? "The text of it" : "Text"}</summary>
          <pre tabIndex={0}>{data.text}</pre>
        </details>
      )}
      {data?.ownText && (
        <details open>
          <summary>A text part of its own, which some programs show in its place</summary>
          <pre tabIndex={0}>{data.ownText}</pre>
        </details>
      )}
    </section>
  );
}
