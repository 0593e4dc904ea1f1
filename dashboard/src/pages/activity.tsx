// The emails of the account: searched, filtered, and one of them in a drawer.

import { useEffect, useRef, useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso/router";

import { search } from "../api";
import { count } from "../format";
import { Badge, Empty, Page, Tags, Time } from "../parts/basics";
import { KeyChoice, TemplateChoice } from "../parts/choices";
import { Icon } from "../parts/icon";
import { Head } from "../parts/list";
import { Progress } from "../parts/notice";
import { type Filters, useFilters } from "../query";
import { useResource } from "../resource";
import type { Message } from "../schema";
import { isMessageId, pageOf, SIZE, STATUSES, toQuery } from "./emails";
import { MessageDrawer } from "./message";

const LIST = "/app/activity";
/** Whether this page opened the drawer, so that Back leads to the list. */
let opened = false;

export default function Activity() {
  const { params } = useRoute();
  const { route, back } = useLocation();
  const [filters, change] = useFilters();
  const page = pageOf(filters);
  const query = toQuery(filters, page);
  const list = useResource("GET /v1/emails", { query }, page === 1);
  const filtered = ["recipient", "status", "key", "template", "tag", "from", "to"].some((name) => filters[name]);
  function close() {
    if (opened) back();
    else route(LIST + search(filters), true);
    opened = false;
  }
  return (
    <Page title="Activity">
      <FilterBar filters={filters} onChange={(changes) => change({ ...changes, page: "" })} />
      <Progress of={list} />
      {list.data?.items.length === 0 && (
        <Empty icon="search" title={filtered ? "No email matches" : "No emails yet"}>
          {filtered ? (
            <button type="button" class="button" onClick={() => route(LIST)}>
              Show all emails
            </button>
          ) : (
            <p>Emails appear here as soon as the service has accepted them.</p>
          )}
        </Empty>
      )}
      {!!list.data?.items.length && (
        <div class={list.stale ? "stale" : undefined}>
          <table class="list emails">
            <Head columns={["Status", "To", "Subject", "Accepted"]} />
            <tbody>
              {list.data.items.map((message) => (
                <Row key={message.messageId} message={message} query={search(filters)} onOpen={() => (opened = true)} />
              ))}
            </tbody>
          </table>
          <Pager page={page} total={list.data.total} onChange={(next) => change({ page: next === 1 ? "" : String(next) })} />
        </div>
      )}
      {params["id"] && <MessageDrawer key={params["id"]} id={params["id"]} onClose={close} />}
    </Page>
  );
}

function Row({ message, query, onOpen }: { message: Message; query: string; onOpen: () => void }) {
  return (
    <tr>
      <td>
        <Badge status={message.status} />
      </td>
      <td class="who">
        <a class="row" href={`${LIST}/${message.messageId}${query}`} onClick={onOpen}>
          {message.recipientEmail}
        </a>
      </td>
      <td class="what">
        <span>{message.subject || "(no subject)"}</span>
        <Tags tags={message.tags} />
      </td>
      <td class="when">
        <Time at={message.createdAt} />
      </td>
    </tr>
  );
}

function FilterBar({ filters, onChange }: { filters: Filters; onChange: (changes: Filters) => void }) {
  const { route } = useLocation();
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useTyped(filters["recipient"]);
  const [tag, setTag] = useTyped(filters["tag"]);
  useEffect(() => {
    function focus(event: KeyboardEvent) {
      const typing = (event.target as HTMLElement).closest("input, select, textarea, dialog");
      if (event.key !== "/" || typing) return;
      event.preventDefault();
      field.current?.focus();
    }
    document.addEventListener("keydown", focus);
    return () => document.removeEventListener("keydown", focus);
  }, []);
  function find(event: Event) {
    event.preventDefault();
    const wanted = text.trim();
    if (isMessageId(wanted)) {
      opened = true;
      route(`${LIST}/${wanted}${search(filters)}`);
    } else onChange({ recipient: wanted });
  }
  function type(next: string) {
    setText(next);
    if (!next && filters["recipient"]) onChange({ recipient: "" });
  }
  const input = (name: string) => ({
    value: filters[name] ?? "",
    onChange: (event: Event) => onChange({ [name]: (event.currentTarget as HTMLInputElement).value.trim() }),
  });
  return (
    <form class="filters" role="search" onSubmit={find}>
      <label class="search">
        <span class="hidden">Recipient or message id</span>
        <Icon name="search" />
        <input ref={field} type="search" placeholder="Recipient or message id" autocomplete="off" spellcheck={false} value={text} onInput={(event) => type(event.currentTarget.value)} />
        <kbd aria-hidden="true">/</kbd>
      </label>
      <button class="hidden" tabIndex={-1}>Search</button>
      <label class="choice">
        <span class="hidden">Status</span>
        <select {...input("status")}>
          <option value="">All statuses</option>
          {STATUSES.map((status) => (
            <option key={status} value={status}>
              {status}
            </option>
          ))}
        </select>
      </label>
      <KeyChoice none="All keys" value={filters["key"]} onChange={(key) => onChange({ key })} />
      <TemplateChoice none="All templates" value={filters["template"]} onChange={(template) => onChange({ template })} />
      <label class="choice">
        <span class="hidden">Tag, as name:value</span>
        <input type="text" placeholder="Tag name:value" spellcheck={false} {...input("tag")} value={tag} onInput={(event) => setTag(event.currentTarget.value)} />
      </label>
      <label class="choice">
        <span>From</span>
        <input type="date" max={filters["to"]} {...input("from")} />
      </label>
      <label class="choice">
        <span>To</span>
        <input type="date" min={filters["from"]} {...input("to")} />
      </label>
    </form>
  );
}

/** Return what is typed in the field of a filter, until the filter changes. */
function useTyped(filter = ""): [string, (text: string) => void] {
  const [text, setText] = useState(filter);
  useEffect(() => setText(filter), [filter]);
  return [text, setText];
}

function Pager({ page, total, onChange }: { page: number; total: number; onChange: (page: number) => void }) {
  const pages = Math.max(1, Math.ceil(total / SIZE));
  return (
    <nav class="pager" aria-label="Pages of the list">
      <span>
        {count((page - 1) * SIZE + 1)}–{count(Math.min(page * SIZE, total))} of {count(total)}
      </span>
      <button type="button" class="button small" disabled={page <= 1} onClick={() => onChange(page - 1)}>
        <Icon name="left" /> Newer
      </button>
      <button type="button" class="button small" disabled={page >= pages} onClick={() => onChange(page + 1)}>
        Older <Icon name="right" />
      </button>
    </nav>
  );
}
