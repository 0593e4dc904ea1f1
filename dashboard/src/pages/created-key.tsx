// A new key, shown once, with a program that sends a first email with it.

import { useState } from "preact/hooks";

import { curlOf, firstRecipient } from "../command";
import { firstEmail, type Language, LANGUAGES } from "../first-email";
import { Code, Segments } from "../parts/basics";
import { Notice } from "../parts/notice";
import { useResource } from "../resource";
import type { Account, KeyList, NewKey } from "../schema";
import { session } from "../session";

interface Properties {
  of: NewKey;
  smtp: KeyList["smtp"];
  onClose: () => void;
}

export function CreatedKey({ of: key, smtp, onClose }: Properties) {
  const account = useResource("GET /v1/account").data;
  const sends = key.scopes.includes("emails:send");
  return (
    <>
      <p>Anyone who has the key can use it. It is shown only once.</p>
      <Code text={key.key} />
      {sends ? (
        <FirstEmail of={key} account={account} />
      ) : (
        <>
          <h3>Try it</h3>
          <Code text={curlOf(location.origin, "/v1/me", key.key)} />
        </>
      )}
      {sends && smtp && account?.defaultSender && (
        <>
          <h3>Or over SMTP</h3>
          <Code text={`Host: ${smtp.host}\nPort: ${smtp.port}, with STARTTLS\nUser: apikey\nPassword: ${key.key}`} />
        </>
      )}
      <p class="actions">
        <button type="button" class="button primary" onClick={onClose}>
          I have stored it
        </button>
      </p>
    </>
  );
}

function FirstEmail({ of: { key }, account }: { of: NewKey; account: Account | undefined }) {
  const [language, setLanguage] = useState<Language>("curl");
  const own = session.value?.user.email ?? "";
  const contact = account && !account.defaultSender ? account.contact : undefined;
  return (
    <>
      <h3>{!contact || contact === own ? "Send an email to yourself" : `Send an email to ${contact}`}</h3>
      {contact && (
        <Notice kind="note">
          The account has no domain yet, so its emails come from the service’s own address and go to {contact === own ? "you" : contact} only. For other recipients add a domain next.
        </Notice>
      )}
      {contact === null && <Notice kind="bad">The account has no sender yet, so this is refused. Add a domain and a default sender next.</Notice>}
      <div class="languages">
        <Segments name="Language" of={LANGUAGES} value={language} onChange={setLanguage} />
        <Code text={firstEmail(language, location.origin, key, firstRecipient(account, own))} />
      </div>
    </>
  );
}
