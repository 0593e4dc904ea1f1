// The templates of the account.

import { useState } from "preact/hooks";

import { keepAnswers } from "../answers";
import { call } from "../api";
import { allPublished } from "../pages/origins";
import { Ask } from "../parts/ask";
import { Badge, Empty, Field, Page, Time } from "../parts/basics";
import { Choice } from "../parts/choice";
import { Icon } from "../parts/icon";
import { Head } from "../parts/list";
import { Notice, Progress, Trouble } from "../parts/notice";
import { useAnswers, useResource } from "../resource";
import { may } from "../rights";
import type { SavedTemplate, StarterSlug, TemplateDraftSummary } from "../schema";
import { useGo } from "../windows";
import { Frame } from "./preview";

interface Item {
  id: string;
  name: string;
  category: string;
  /** The version that the draft was made from. */
  version?: number;
  published: boolean;
  changed: boolean;
  at: string;
  by?: string;
}

const lists = keepAnswers<Item[]>();
const pictures = keepAnswers<string>();
const MJML = `<mjml>
  <mj-head><mj-preview>What inboxes show after the subject</mj-preview></mj-head>
  <mj-body>
    <mj-section>
      <mj-column>
        <mj-text>Hello {{ name | default("there") }},</mj-text>
      </mj-column>
    </mj-section>
  </mj-body>
</mjml>
`;

export function TemplateList() {
  const writable = may("templates");
  const list = useTemplates();
  const [adding, setAdding] = useState(false);
  const add = (
    <button type="button" class="button primary" disabled={!writable} onClick={() => setAdding(true)}>
      <Icon name="plus" /> New template
    </button>
  );
  return (
    <Page title="Templates" actions={add}>
      <p class="lead">An email that names a template fills in its variables. What you write is a draft until you publish it.</p>
      {!writable && <Notice kind="note">Owners, developers and authors write templates.</Notice>}
      <Progress of={list} />
      {list.data?.length === 0 && (
        <Empty icon="templates" title="No templates yet">
          <p>
            Begin with one of the starters, or paste the HTML that you have. <a href="/app/guides/templates">What templates can do</a>
          </p>
          {writable && add}
        </Empty>
      )}
      {!!list.data?.length && (
        <table class="list templates">
          <Head columns={["Name", "State", "Last change"]} />
          <tbody>
            {list.data.map((one) => (
              <tr key={one.id}>
                <td class="who">
                  <a class="row" href={`/app/templates/${one.id}`}>
                    {one.name}
                  </a>{" "}
                  <small>{one.category}</small>
                </td>
                <td class="what">
                  {one.published && <Badge status="delivered">{one.version ? `version ${one.version}` : "published"}</Badge>} {one.changed && <Badge status="pending">draft</Badge>}
                </td>
                <td class="when">
                  <Time at={one.at} /> {one.by && <small>by {one.by}</small>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {adding && <New categories={[...new Set(list.data?.map(({ category }) => category))]} onClose={() => setAdding(false)} />}
    </Page>
  );
}

/** Load the templates, published or not. */
export const useTemplates = (wanted = true) => useAnswers(lists, wanted ? "" : null, load);

async function load(signal: AbortSignal): Promise<Item[]> {
  const [published, drafts] = await Promise.all([allPublished(signal), call("GET /v1/templates/drafts", { signal })]);
  return merge(published, drafts.items);
}

function merge(published: SavedTemplate[], drafts: TemplateDraftSummary[]): Item[] {
  const items = new Map<string, Item>();
  for (const { id, name, category, updatedAt } of published) items.set(id, { id, name, category, published: true, changed: false, at: updatedAt });
  for (const { id, name, category, version, changed, updatedAt, updatedBy } of drafts) {
    const before = items.get(id);
    const at = before && before.at > updatedAt ? before.at : updatedAt;
    items.set(id, { id, name, category, version, published: !!before, changed: changed || !before, at, by: updatedBy });
  }
  return [...items.values()].sort((one, other) => other.at.localeCompare(one.at));
}

function New({ categories, onClose }: { categories: string[]; onClose: () => void }) {
  const go = useGo();
  const starters = useResource("GET /v1/starter-templates");
  const [name, setName] = useState("");
  const [category, setCategory] = useState(categories[0] ?? "general");
  const [origin, setOrigin] = useState("html");
  async function create() {
    const starter = starters.data?.some(({ slug }) => slug === origin) ? (origin as StarterSlug) : undefined;
    const { id, revision, subject, samples } = await call("POST /v1/templates", { body: { name, category, starterTemplate: starter } });
    if (origin === "mjml") {
      const body = { name, category, subject, samples, kind: "mjml" as const, source: MJML };
      await call("PUT /v1/templates/{id}/draft", { path: { id }, body, ifMatch: revision });
    }
    go(`/app/templates/${id}`);
  }
  const origins = [
    { slug: "html", name: "Blank HTML", description: "Write it, or paste what you have." },
    { slug: "mjml", name: "Blank MJML", description: "Short tags that become HTML for every mail program." },
    ...(starters.data ?? []),
  ];
  return (
    <Ask wide title="New template" answer="Create template" action={create} onClose={onClose}>
      <div class="begin">
        <div class="entries">
          <Field label="Name">
            <input required maxLength={128} placeholder="Receipt" value={name} onInput={(event) => setName(event.currentTarget.value)} />
          </Field>
          <Field label="Category" hint="Any word that groups your templates.">
            <input required maxLength={128} list="categories" value={category} onInput={(event) => setCategory(event.currentTarget.value)} />
          </Field>
          <datalist id="categories">
            {categories.map((one) => (
              <option key={one} value={one} />
            ))}
          </datalist>
          <fieldset class="cards origins">
            <legend>Begin with</legend>
            {origins.map((one) => (
              <Choice key={one.slug} group="origin" name={one.name} about={one.description} checked={origin === one.slug} onChoose={() => setOrigin(one.slug)} />
            ))}
          </fieldset>
          <Trouble of={starters} />
        </div>
        <Picture slug={starters.data?.find(({ slug }) => slug === origin)?.slug as StarterSlug | undefined} />
      </div>
    </Ask>
  );
}

/** What a starter looks like with its own samples. */
function Picture({ slug }: { slug: StarterSlug | undefined }) {
  const { data, stale } = useAnswers(pictures, slug ?? null, async (signal) =>
    (await call("POST /v1/starter-templates/{slug}/preview", { path: { slug: slug ?? "" }, signal })).html,
  );
  return (
    <div class="picture">
      {slug && data && !stale ? <Frame html={data} scheme="light" device="desktop" images={false} /> : <p class="hint">{slug ? "The picture is on its way." : "An empty page. Choose a starter to see it here."}</p>}
    </div>
  );
}
