// The emails of the account: searched, filtered, and one of them in a drawer.

import { useRef, useState } from "preact/hooks";
import lazy from "preact-iso/lazy";

import { search } from "../api";
import { noteOpened, useDrawer, useRow } from "../drawer";
import { count } from "../format";
import { useKeys } from "../keys";
import { Boxes, breakable, Empty, Page, Tags, Time } from "../parts/basics";
import { KeyChoice, TemplateChoice, useNames } from "../parts/choices";
import { Icon } from "../parts/icon";
import { Head } from "../parts/list";
import { Progress } from "../parts/notice";
import { type Filters, useFilters, useTyped } from "../query";
import { useResource } from "../resource";
import type { Message, Status } from "../schema";
import { useGo } from "../windows";
import { isMessageId, neighbour, pageOf, SIZE, STATUSES, toQuery } from "./emails";
import { useHeld } from "./held";
import { MessageDrawer, State } from "./message";
import { type Names, originOf } from "./origins";
import { Range } from "./range";

const ExportWindow = lazy(() => import("../later").then((pages) => pages.ExportWindow));
const LIST = "/app/activity";

export default function Activity() {
  const names = useNames();
  const [exporting, setExporting] = useState(false);
  const { id, close } = useDrawer(LIST);
  const go = useGo();
  const [filters, change] = useFilters();
  const page = pageOf(filters);
  const query = toQuery(filters, page);
  const list = useResource("GET /v1/emails", { query }, page === 1);
  const filtered = ["recipient", "status", "key", "template", "tag", "error", "from", "to"].some((name) => filters[name]);
  const { items, fresh, release } = useHeld(list.data?.items, `${search(filters)} ${list.stale}`);
  const step = (by: 1 | -1) => (id ? neighbour(items, id, by) : undefined);
  const older = () => show(step(1));
  const newer = () => show(step(-1));
  const show = (next?: string) => next && go(`${LIST}/${next}${search(filters)}`, true);
  useKeys(id ? { j: older, ArrowDown: older, k: newer, ArrowUp: newer } : {}, true);
  function turn(next: number) {
    change({ page: next === 1 ? "" : String(next) });
    scrollTo(0, 0);
  }
  const out = (
    <>
      <Boxes here={LIST} />
      <button type="button" class="button" disabled={!list.data?.total} onClick={() => setExporting(true)}>
        Export
      </button>
    </>
  );
  return (
    <Page title="Activity" actions={out}>
      <FilterBar filters={filters} onChange={(changes) => change({ ...changes, page: "" })} />
      <Progress of={list} />
      {list.data?.items.length === 0 && (
        <Empty icon="search" title={page > 1 ? "This page is past the last email" : filtered ? "No email matches" : "No emails yet"}>
          {page > 1 ? (
            <button type="button" class="button" onClick={() => turn(1)}>
              Show the first page
            </button>
          ) : filtered ? (
            <button type="button" class="button" onClick={() => go(LIST)}>
              Show all emails
            </button>
          ) : (
            <p>
              Emails appear here as soon as the service has accepted them. <a href="/app/guides">How to send one</a>
            </p>
          )}
        </Empty>
      )}
      {!!list.data?.items.length && (
        <div class={list.stale ? "stale" : undefined}>
          {fresh > 0 && (
            <button type="button" class="button fresh" onClick={release}>
              {count(fresh)} new
            </button>
          )}
          <table class="list emails" data-held>
            <Head columns={["Status", "To", "Subject", "Template and key", "Accepted"]} />
            <tbody>
              {items.map((message) => (
                <Row key={message.messageId} message={message} names={names} query={search(filters)} />
              ))}
            </tbody>
          </table>
          <Pager page={page} total={list.data.total} onChange={turn} />
        </div>
      )}
      {exporting && <ExportWindow query={query} names={names} onClose={() => setExporting(false)} />}
      {id && <MessageDrawer id={id} names={names} newer={step(-1)} older={step(1)} onShow={show} onClose={close} />}
    </Page>
  );
}

const ORDINARY: Status[] = ["pending", "sent", "delivered"];

/** The address is no link, so that it can be selected. */
function Row({ message, names, query }: { message: Message; names: Names; query: string }) {
  const { link, open } = useRow();
  const origin = originOf(message, names);
  const template = names.get(origin.template?.id ?? "");
  const key = names.get(origin.key?.id ?? "");
  const subject = message.subject || "(no subject)";
  return (
    <tr onClick={open}>
      <td>
        <State of={message} quiet={ORDINARY.includes(message.status)} />
      </td>
      <td class="who">{breakable(message.recipientEmail)}</td>
      <td class="what">
        <div>
          <a class="row" ref={link} href={`${LIST}/${message.messageId}${query}`} aria-label={`${subject}, to ${message.recipientEmail}`} onClick={noteOpened}>
            {subject}
          </a>
          <Tags tags={message.tags} />
        </div>
      </td>
      <td class="origin">
        <div title={[template, key].filter(Boolean).join(", ")}>
          {template && <span>{template}</span>} {key && <b>{key}</b>}
        </div>
      </td>
      <td class="when">
        <Time at={message.createdAt} />
      </td>
    </tr>
  );
}

function FilterBar({ filters, onChange }: { filters: Filters; onChange: (changes: Filters) => void }) {
  const go = useGo();
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useTyped(filters["recipient"]);
  const [tag, setTag] = useTyped(filters["tag"]);
  useKeys({ "/": () => field.current?.focus() });
  function find(event: Event) {
    event.preventDefault();
    const wanted = text.trim();
    if (isMessageId(wanted)) {
      noteOpened();
      go(`${LIST}/${wanted}${search(filters)}`);
    } else onChange({ recipient: wanted });
  }
  function type(next: string) {
    setText(next);
    if (!next && filters["recipient"]) onChange({ recipient: "" });
  }
  const { from = "", to = "" } = filters;
  const input = (name: string) => ({
    value: filters[name] ?? "",
    onChange: (event: Event) => onChange({ [name]: (event.currentTarget as HTMLInputElement).value.trim(), ...(name === "status" && { error: "" }) }),
  });
  return (
    <form class="filters" role="search" onSubmit={find}>
      <label class="search">
        <span class="hidden">Recipient or message id</span>
        <Icon name="search" />
        <input ref={field} type="search" placeholder="Recipient or message id" pattern="\s*\S*\s*" title="The beginning of an address, or a message id. Ctrl+K finds the newest emails by their subjects." autocomplete="off" spellcheck={false} value={text} onInput={(event) => type(event.currentTarget.value)} />
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
      <Range from={from} to={to} onChange={onChange} />
      {filters["error"] && (
        <p class="chips">
          <span class="tag">Error {filters["error"]}</span>
          <button type="button" class="link" onClick={() => onChange({ error: "" })}>
            Show other emails too
          </button>
        </p>
      )}
    </form>
  );
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
