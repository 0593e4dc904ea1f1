// The pages of templates, which are loaded when the first one is opened.

import { TemplatePage } from "./editor";
import { TemplateList } from "./list";
import styles from "./styles.css" with { type: "text" };

const sheet = new CSSStyleSheet();
sheet.replaceSync(styles);
document.adoptedStyleSheets.push(sheet);

export { TemplateList, TemplatePage };
