// One email in a drawer, over the list that it is in.

import { useEffect } from "preact/hooks";
import lazy from "preact-iso/lazy";

import { ApiError } from "../http";
import { Dialog } from "../parts/dialog";
import { Icon } from "../parts/icon";
import { LoadFailed, Progress } from "../parts/notice";
import { useResource } from "../resource";
import type { Names } from "./origins";

const Detail = lazy(() => import("../later").then((pages) => pages.Detail, () => LoadFailed));

interface Properties {
  id: string;
  names: Names;
  /** The emails beside it in the list. */
  newer?: string;
  older?: string;
  onShow: (id: string) => void;
  onClose: () => void;
}

export function MessageDrawer({ id, names, newer, older, onShow, onClose }: Properties) {
  const message = useResource("GET /v1/emails/{message_id}", { path: { message_id: id } }, true);
  const shown = message.data?.messageId === id ? message.data : undefined;
  useEffect(() => void Detail.preload(), []);
  const missing = message.error instanceof ApiError && message.error.status === 404;
  return (
    <Dialog drawer title={shown?.subject || (missing ? "Not found" : "Email")} onClose={onClose}>
      {missing ? <p>This account has no email with the id {id}.</p> : <Progress of={{ ...message, data: shown }} />}
      {shown && <Detail key={id} of={shown} names={names} onShow={onShow} onChanged={message.reload} />}
      {(newer || older) && (
        <p class="actions">
          <button type="button" class="button small" disabled={!newer} title="K or ↑" onClick={() => onShow(newer ?? "")}>
            <Icon name="left" /> Newer email
          </button>
          <button type="button" class="button small" disabled={!older} title="J or ↓" onClick={() => onShow(older ?? "")}>
            Older email <Icon name="right" />
          </button>
        </p>
      )}
    </Dialog>
  );
}
