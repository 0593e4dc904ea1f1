// The guides of docs/guides, beside the pages that they are about.

import { createElement, type VNode } from "preact";
import { useEffect } from "preact/hooks";
import { useRoute } from "preact-iso/router";

import { keepAnswers } from "../answers";
import type { Guide, Node } from "../guides";
import { Code, Empty, Page } from "../parts/basics";
import { Progress } from "../parts/notice";
import { useAnswers } from "../resource";

const kept = keepAnswers<Guide[]>();

export default function GuidePage() {
  const { name = "" } = useRoute().params;
  // All guides are as long as all pages, so they are a file of their own.
  const all = useAnswers(kept, "", async () => (await import("../guides")).GUIDES);
  const guide = all.data?.find((one) => one.name === name);
  const { hash } = location;
  useEffect(() => {
    if (guide) document.getElementById(decodeURIComponent(hash.slice(1)))?.scrollIntoView();
  }, [guide, hash]);
  return (
    <Page title={guide?.title ?? "Guides"}>
      {name && (
        <p class="crumbs">
          <a href="/app/guides">Guides</a>
        </p>
      )}
      <Progress of={all} />
      {guide && <article class="guide">{guide.content.map(shown)}</article>}
      {all.data && !guide && (
        <Empty icon="search" title="There is no such guide">
          <p>
            <a href="/app/guides">See all guides</a>
          </p>
        </Empty>
      )}
    </Page>
  );
}

function shown(node: Node): string | VNode {
  if (typeof node === "string") return node;
  const [tag, attributes, ...inside] = node;
  if (tag === "pre") return <Code text={String(inside[0]).trimEnd()} />;
  if (tag === "table") return <div class="scroll" tabIndex={0} role="region" aria-label="Table">{createElement("table", null, inside.map(shown))}</div>;
  return createElement(tag, attributes, inside.map(shown));
}
