// The DNS records of one domain, for the person who manages its DNS: opened by a link, without signing in.

import { useEffect, useState } from "preact/hooks";

import { clock, minute } from "../format";
import { ApiError, exchange } from "../http";
import { DnsRecords } from "../parts/dns-records";
import { Loading, Notice } from "../parts/notice";
import { Toasts } from "../parts/toast";
import type { SharedDomain } from "../schema";
import { summary } from "./dns-summary";

const PAUSE = 20_000; // milliseconds between two looks at DNS

interface Look {
  data?: SharedDomain;
  at?: Date;
  error?: Error;
}

export default function SharedRecords() {
  const [{ data, at, error }, setLook] = useState<Look>({});
  const [asked, setAsked] = useState(0);
  const isOver = error instanceof ApiError && error.status !== 429;
  useEffect(() => {
    const controller = new AbortController();
    const token = location.hash.slice(1);
    exchange<SharedDomain>("POST", "/v1/domain-records", { body: { token }, signal: controller.signal }).then(
      (next) => setLook({ data: next, at: new Date() }),
      (failure: Error) => controller.signal.aborted || setLook((last) => ({ ...last, error: failure })),
    );
    return () => controller.abort();
  }, [asked]);
  useEffect(() => {
    document.title = data ? `DNS records of ${data.domain}` : "DNS records";
    if (isOver || data?.status === "verified") return;
    const timer = setInterval(() => document.hidden || setAsked((last) => last + 1), PAUSE);
    return () => clearInterval(timer);
  }, [data?.domain, data?.status, isOver]);
  return (
    <main class="shared">
      <h1>DNS records{data && ` of ${data.domain}`}</h1>
      {error && <Notice kind="bad">{error instanceof ApiError ? error.message : "The service does not answer. It is asked again in a moment."}</Notice>}
      {!data && !error && <Loading />}
      {data && !isOver && (
        <>
          {data.status !== "verified" && (
            <p class="lead">
              Someone wants to send email from {data.domain}, and asks you to create these records where its DNS is managed. Leave
              the records that it has now, except one that has another value here.
            </p>
          )}
          <p class="state" role="status">
            <b>{summary(data)}</b>{" "}
            {at && `DNS was asked at ${clock(at)}.`}{" "}
            <button type="button" class="link" onClick={() => setAsked(asked + 1)}>
              Ask again
            </button>
          </p>
          <DnsRecords of={data.records} domain={data.domain} />
          <p class="hint">
            New records are seen within minutes, and for some providers within hours. This page needs no account and changes
            nothing. The link works until {minute(data.expiresAt)}.
          </p>
        </>
      )}
      <Toasts />
    </main>
  );
}
