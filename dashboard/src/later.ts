// The pages that few visits open, with their styles.

import styles from "./styles/later.css" with { type: "text" };

const sheet = new CSSStyleSheet();
sheet.replaceSync(styles);
document.adoptedStyleSheets.push(sheet);

export { default as Account } from "./pages/account";
export { Answers } from "./pages/answers";
export { default as DomainPage } from "./pages/domain";
export { default as Domains } from "./pages/domains";
export { default as Endpoint } from "./pages/endpoint";
export { ExportWindow } from "./pages/export-window";
export { default as Guide } from "./pages/guide";
export { KeptContent } from "./pages/kept-content";
export { default as Keys } from "./pages/keys";
export { default as Members } from "./pages/members";
export { NoAccount } from "./pages/no-account";
export { Passkeys } from "./pages/passkeys";
export { Account as OperatorAccount, Accounts as OperatorAccounts, Checks, Queues, Rates, SignUps } from "./pages/operator";
export { default as Received } from "./pages/received";
export { default as SharedRecords } from "./pages/shared-records";
export { Palette } from "./parts/palette";
export { default as Suppressions } from "./pages/suppressions";
export { TemplatePage } from "./templates/editor";
export { TemplateList } from "./templates/list";
export { Waiting } from "./pages/waiting";
export { default as Webhooks } from "./pages/webhooks";
