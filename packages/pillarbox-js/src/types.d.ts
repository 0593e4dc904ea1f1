// Written by `make openapi` from docs/openapi-keys.json.

/** What the key of an agent may do. */
export interface AgentLimits {
  /** Addresses and domains that it may send to; `*` is every one. */
  recipients: Array<string>;
  /** Whether a person must confirm each send. */
  confirmation: Confirmation;
  /** How many emails it may send a day. */
  perDay: number;
}

/** Figures of the messages that were created within a time range. */
export interface Analytics {
  totalMessages: number;
  /** The fraction of all messages; 0 if there are none. */
  deliveryRate: number;
  /** Permanent bounces only. A transient bounce is no sign of a bad address; it may even be an out-of-office reply to a message that was delivered. */
  bounceRate: number;
  /** The fraction of all messages; 0 if there are none. */
  complaintRate: number;
  windowStart: string;
  windowEnd: string;
  bucket: Bucket;
  /** How many of the messages have each status now: the `total` of their list with `status` and the same time range. */
  statuses: StatusCounts;
  /** A row for every hour or day of the time range, in order. */
  volume: Array<AnalyticsRow>;
  /** The most frequent errors first. */
  topErrors: Array<TopError>;
}

/** The messages that were created in one hour or day, and the statuses they ever reached. */
export interface AnalyticsRow {
  /** The start of the hour or day, in UTC. */
  timestamp: string;
  /** All accepted messages. */
  count: number;
  sent: number;
  delivered: number;
  /** Permanent bounces only. */
  bounced: number;
  complained: number;
  failed: number;
  statuses: StatusCounts;
}

/** A file in an email. It is not kept after the delivery. */
export interface Attachment {
  /** A plain name: no path, no colon, no invisible character, no dot or blank at the end, no device of Windows such as CON, and no extension that SES refuses (.exe, .js, .bat, .lnk, .hta, …). */
  filename: string;
  /** The type of the file (RFC 6838), without parameters. Without it, the file's extension decides. */
  contentType?: AttachmentType | null;
  /** The file's bytes in base64 (RFC 4648 section 4), padded. */
  content: string;
  /** Whether the HTML shows the file, as cid:<contentId>. False by default. */
  inline?: boolean;
  /** Required if `inline` is true, else not allowed. Unique in an email. */
  contentId?: string | null;
}

/** A type of file that an email may have (RFC 6838), without parameters. */
export type AttachmentType = "application/msword" | "application/pdf" | "application/vnd.ms-excel" | "application/vnd.ms-powerpoint" | "application/vnd.openxmlformats-officedocument.presentationml.presentation" | "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet" | "application/vnd.openxmlformats-officedocument.wordprocessingml.document" | "image/gif" | "image/jpeg" | "image/png" | "image/webp" | "text/calendar" | "text/csv" | "text/plain";

/** The result for one message of a batch. */
export interface BatchItem {
  /** The position of the message in the request, from zero. */
  idx: number;
  /** Null if the message was refused. */
  messageId: string | null;
  /** Null if the message was refused. */
  status: "queued" | null;
  /** Null if the message was refused. */
  from: string | null;
  /** Null if the message was accepted. */
  error: ErrorBody | null;
}

/** A result for each message, in the order of the request. Check `error` of each. */
export interface BatchResult {
  results: Array<BatchItem>;
}

/** The length of time that one row of analytics covers. */
export type Bucket = "hour" | "day";

/** The API key of the request, and the limits that apply to what it sends. */
export interface CallerDetail {
  id: string;
  name: string;
  /** The last four characters of its text, to tell keys apart; null for a key that was made before they were stored. */
  ending: string | null;
  type: KeyType;
  /** Null for a preview key. */
  preset: Preset | null;
  /** The permissions of the key. */
  scopes: Array<string>;
  /** Null if it is no agent's key. */
  agent: AgentLimits | null;
  createdAt: string;
  /** When it last sent a message, to within about an hour. */
  lastUsedAt: string | null;
  /** Null while the key works. */
  revokedAt: string | null;
  accountId: string;
  plan: Plan;
  /** The account's limits, which its keys share; a preview key has others. An agent's key shows its own limit where that has less left. */
  limits: Array<LimitState>;
}

/** Changes to an endpoint. Null changes nothing. */
export interface ChangeWebhookRequest {
  /** An https: URL on a public host, with port 443 or one from 1024 on. */
  url?: string | null;
  /** `["*"]`, which means all types except `email.accepted`, or a list of types. */
  types?: Array<"*" | "account.paused" | "domain.failed" | "domain.verified" | "email.accepted" | "email.bounced" | "email.complained" | "email.delayed" | "email.delivered" | "email.failed" | "email.sent" | "suppression.added"> | null;
  /** Whether events are sent. */
  enabled?: boolean | null;
}

/** Whether a person must confirm each send of a key. */
export type Confirmation = "ask" | "off";

/** A new endpoint. */
export interface CreateWebhookRequest {
  /** An https: URL on a public host, with port 443 or one from 1024 on. */
  url: string;
  /** `["*"]`, which means all types except `email.accepted`, or a list of types. */
  types: Array<"*" | "account.paused" | "domain.failed" | "domain.verified" | "email.accepted" | "email.bounced" | "email.complained" | "email.delayed" | "email.delivered" | "email.failed" | "email.sent" | "suppression.added">;
}

/** Whether the event arrived, another attempt follows, or none does. */
export type DeliveryState = "waiting" | "delivered" | "failed";

/** The `data` of `domain.verified` and `domain.failed`. */
export interface DomainData {
  domain: string;
}

/** The provider verified a sender domain of the account, or no longer does. */
export interface DomainEvent {
  type: "domain.verified" | "domain.failed";
  timestamp: string;
  data: DomainData;
}

/** Something happened to an email, or to one of its recipients. */
export interface EmailEvent {
  type: "email.accepted" | "email.sent" | "email.delivered" | "email.delayed" | "email.bounced" | "email.complained" | "email.failed";
  timestamp: string;
  data: EmailEventData;
}

/** The `data` of the types `email.*`; `revision` grows with each change of the email. */
export interface EmailEventData {
  messageId: string;
  status: Status;
  recipient: string | null;
  recipientStatus: Status | null;
  to: Array<string>;
  subject: string;
  templateId: string | null;
  starterTemplate: string | null;
  tags: Record<string, string>;
  error: WebhookError | null;
  revision: number;
}

/** The endpoint that got the event. */
export interface EndpointData {
  endpointId: string;
}

/** What went wrong. */
export interface ErrorBody {
  /** A stable code for programs. */
  code: string;
  /** A text for people. It may change. */
  message: string;
  type: ErrorType;
  /** Data that depends on the code. */
  details?: Record<string, unknown>;
  /** Only with `upgrade_required`. */
  upgrade_url?: string;
}

/** The body of every error response. */
export interface ErrorResponse {
  error: ErrorBody;
}

/** A kind of error. */
export type ErrorType = "invalid_request_error" | "authentication_error" | "authorization_error" | "not_found" | "idempotency_error" | "rate_limit_error" | "api_error" | "service_unavailable";

/** What can happen to a message or to one of its recipients. */
export type EventKind = "delayed" | "accepted" | "uncertain" | "sent" | "failed" | "bounced_transient" | "delivered" | "bounced" | "complained";

/** Header fields: In-Reply-To, References, List-Unsubscribe, List-Unsubscribe-Post, Auto-Submitted, Precedence, Feedback-ID, and names that begin with X-. They have at most 4096 bytes in all. Only X-… may have more than ASCII. */
export type Headers = Record<string, string>;

/** The type of an API key. */
export type KeyType = "preview" | "live";

/** A limit of sending, and what is left of it. */
export interface LimitState {
  /** The window in UTC that counts accepted messages; `recipients` counts their recipients in a day. The field `RateLimit` has the same names. */
  name: "minute" | "day" | "recipients" | "month";
  /** Null if there is no limit. */
  limit: number | null;
  used: number;
  /** Null if there is no limit. */
  remaining: number | null;
  /** When the window ends and all is left again. */
  resetsAt: string;
}

/** A message in a list. */
export interface Message {
  messageId: string;
  /** The first address in `to`. */
  recipientEmail: string;
  subject: string;
  status: Status;
  createdAt: string;
  updatedAt: string;
  /** Why the message failed, bounced or led to a complaint. */
  errorMessage: string | null;
  /** The tags of the send request. */
  tags: Record<string, string>;
  /** The API key that sent the message. */
  keyId: string | null;
  starterTemplate: string | null;
  templateId: string | null;
}

/** A message and its events. */
export interface MessageDetail {
  messageId: string;
  status: Status;
  /** The first address in `to`. */
  recipientEmail: string;
  subject: string;
  fromName: string | null;
  /** The provider's id; empty until the email is sent. */
  providerMessageId: string;
  /** Why the message failed, bounced or led to a complaint. */
  errorMessage: string | null;
  createdAt: string;
  updatedAt: string;
  /** The address that the email is sent from. */
  from: string;
  to: Array<string>;
  cc: Array<string>;
  bcc: Array<string>;
  /** How the message came in. This and the next five are null for a message that was accepted before they were recorded. */
  route: SendRoute | null;
  /** The API key that sent the message. */
  keyId: string | null;
  starterTemplate: string | null;
  templateId: string | null;
  /** Counts the changes of the saved template, from 1. */
  templateVersion: number | null;
  /** The X-Request-Id of the response that accepted the message. */
  requestId: string | null;
  /** The tags of the send request. */
  tags: Record<string, string>;
  /** Each event with its time and its reason. */
  events: Array<MessageEvent>;
}

/** An event of a message or of one of its recipients. */
export interface MessageEvent {
  type: EventKind;
  at: string;
  /** Absent if the event concerns all recipients. */
  recipient?: string;
  /** A stable short code, such as `mailbox_full`. */
  code?: string;
  /** The words of the provider or the remote server. */
  reason?: string;
}

/** One page of a list. */
export interface MessagePage {
  items: Array<Message>;
  /** The number of items on all pages together. */
  total: number;
  /** As requested. */
  skip: number;
  /** As requested. */
  limit: number;
}

/** The `data` of `account.paused`: what sends less or nothing, and why.

`id` is that of the key or the template, or the slug of a starter template. With the level
`warn` everything is sent; with `brake` a tenth of the limit of a minute is left; with `stop`
nothing is accepted. `until` is null if a person has to end it. */
export interface PausedData {
  endpointId: string;
  scope: "account" | "key" | "template";
  id: string | null;
  level: "warn" | "brake" | "stop";
  cause: "bounces" | "complaints" | "provider" | "operator";
  until: string | null;
}

/** The account, a key or a template sends less or nothing, or may soon. */
export interface PausedEvent {
  type: "account.paused";
  timestamp: string;
  data: PausedData;
}

/** The plan of an account. */
export type Plan = "free" | "standard" | "enterprise";

/** A named set of permissions. */
export type Preset = "send" | "marketing" | "analytics" | "custom";

/** An event that will be sent to the endpoint. */
export interface QueuedWebhookEvent {
  /** The id of its delivery. */
  id: string;
  /** The header `webhook-id` of each attempt. */
  eventId: string;
  type: WebhookType;
}

/** Values for the preview. */
export interface RenderStarterRequest {
  /** They replace samples of the template. */
  variables?: Variables | null;
  /** Shown instead of the account's brand. */
  brandName?: string | null;
  /** An https: URL. Shown instead of the account's logo. */
  logoUrl?: string | null;
}

/** A time range of emails, and types of their events. */
export interface ReplayWebhookRequest {
  /** Only emails accepted at or after this time. A time without an offset is UTC. */
  from: string;
  /** Only emails accepted before this time, which is after `from`. By default now. */
  to?: string | null;
  /** The types to send again, of those that begin with `email.`. By default those of the endpoint. */
  types?: Array<"*" | "email.accepted" | "email.bounced" | "email.complained" | "email.delayed" | "email.delivered" | "email.failed" | "email.sent"> | null;
}

/** What is wrong with a message. The error of a tool is in the tool's result. */
export interface RpcErrorBody {
  /** A code of JSON-RPC or MCP, such as -32601. */
  code: number;
  message: string;
  data?: Record<string, unknown>;
}

/** A request, or a notification if it has no id (JSON-RPC 2.0). */
export interface RpcRequest {
  jsonrpc: "2.0";
  /** The response repeats it. */
  id?: string | number;
  /** Such as `tools/list` or `tools/call`. */
  method: string;
  /** What the method needs. */
  params?: Record<string, unknown>;
}

/** The response to a request: a result or an error. */
export interface RpcResponse {
  jsonrpc: "2.0";
  /** Null if the request has none to repeat. */
  id: string | number | null;
  result?: Record<string, unknown>;
  error?: RpcErrorBody;
}

/** A saved template in a list. */
export interface SavedTemplate {
  id: string;
  name: string;
  subject: string;
  category: string;
  /** The names that the template refers to. */
  variables: Array<string>;
  createdAt: string;
  updatedAt: string;
}

/** A saved template with a preview. */
export interface SavedTemplateDetail {
  id: string;
  name: string;
  subject: string;
  category: string;
  /** The names that the template refers to. */
  variables: Array<string>;
  createdAt: string;
  updatedAt: string;
  /** The first 500 characters of the HTML, with names in place of values. */
  previewHtml: string;
}

/** One page of a list. */
export interface SavedTemplatePage {
  items: Array<SavedTemplate>;
  /** The number of items on all pages together. */
  total: number;
  /** As requested. */
  skip: number;
  /** As requested. */
  limit: number;
}

/** Up to 100 emails. */
export interface SendBatchRequest {
  /** At most 1,000 recipients together. Each message is accepted or refused separately. */
  messages: Array<SendEmailRequest>;
}

/** Give exactly one of `starterTemplate`, `templateId` and `html`. Null means the same as leaving a field out. */
export interface SendEmailRequest {
  /** One address or several. `to`, `cc` and `bcc` have at most 50 recipients together. */
  to: string | Array<string>;
  /** A built-in template. */
  starterTemplate?: StarterSlug | null;
  /** A saved template. Not for preview keys. */
  templateId?: string | null;
  /** The HTML body, at most 2 MB in UTF-8. Requires `subject`. Not for preview keys. */
  html?: string | null;
  /** The text part, at most 1 MB in UTF-8. Without it, one is made from the HTML. It is sent as written, in all three modes. Not for keys that send tests. */
  text?: string | null;
  /** The values for the template: at most 256 KB and 8 levels. */
  variables?: Variables | null;
  /** Required with `html`. It replaces the subject of a template. */
  subject?: string | null;
  /** The sender's display name. It does not only consist of blanks and invisible characters. */
  fromName?: string | null;
  /** A verified sender of the account, alone or as `Name <address>`. Free plans ignore the address. */
  from?: string | null;
  /** Carbon copies. */
  cc?: Array<string> | null;
  /** Blind copies. */
  bcc?: Array<string> | null;
  /** The address for replies. */
  replyTo?: string | null;
  /** Shown at the top of templates. */
  brandName?: string | null;
  /** An https: URL. The service never fetches it. */
  logoUrl?: string | null;
  /** Each file has at most 5 MB and all together at most 10 MB, decoded. */
  attachments?: Array<Attachment> | null;
  /** Names and values by which you find the email again. */
  tags?: Tags | null;
  /** Header fields of your own, by name. Over SMTP these and most others are delivered as they are. */
  headers?: Headers | null;
  /** Writes List-Unsubscribe, and with `oneClick` List-Unsubscribe-Post, in place of these names in `headers`. */
  unsubscribe?: UnsubscribeModel | null;
}

/** The email is accepted: it is recorded and will be delivered. */
export interface SendResult {
  /** Use it to look the message up. */
  messageId: string;
  status: "queued";
  /** The address that the email is sent from. */
  from: string;
}

/** The ways in which a message can be accepted. */
export type SendRoute = "http" | "batch" | "smtp" | "mcp" | "notice";

/** The field that a list of messages is sorted by, in descending order. */
export type SortBy = "created_at" | "updated_at" | "status";

/** A starter template as an email would show it. Nothing is sent. */
export interface StarterPreview {
  slug: string;
  subject: string;
  html: string;
  /** The values that the preview shows. */
  sampleVariables: Record<string, unknown>;
}

/** A starter template. */
export type StarterSlug = "otp" | "magic_link" | "email_verify" | "welcome" | "password_reset" | "password_changed" | "team_invite" | "trial_ending" | "payment_receipt" | "security_alert";

/** A built-in template. */
export interface StarterTemplate {
  slug: string;
  name: string;
  description: string;
  /** The names of its variables. */
  variables: Array<string>;
}

/** The latest known state of a message. */
export type Status = "pending" | "sent" | "delivered" | "bounced" | "complained" | "failed";

/** How many messages have each status now. Each message counts once. */
export interface StatusCounts {
  pending: number;
  sent: number;
  delivered: number;
  bounced: number;
  complained: number;
  failed: number;
}

/** The `data` of `suppression.added`. */
export interface SuppressionData {
  address: string;
  reason: string;
  messageId: string | null;
}

/** The account no longer sends to an address. */
export interface SuppressionEvent {
  type: "suppression.added";
  timestamp: string;
  data: SuppressionData;
}

/** Names and values by which you find an email again. They are not delivered. They have at most 256 bytes in all. A value has no blank at either end. */
export type Tags = Record<string, string>;

/** A user tests the endpoint. */
export interface TestEvent {
  type: "webhook.test";
  timestamp: string;
  data: EndpointData;
}

/** An error and the number of messages that have it. */
export interface TopError {
  code: string;
  message: string;
  count: number;
}

/** The header fields by which mail programs show a button to unsubscribe. */
export interface UnsubscribeModel {
  /** An https: URL, or a mailto: URL. */
  url: string;
  /** Whether the URL unsubscribes by a POST that mail programs send for their user (RFC 8058). It needs an https: URL. */
  oneClick?: boolean;
}

/** Values for a template, by name. */
export type Variables = Record<string, unknown>;

/** An endpoint: an address of your application that receives events. */
export interface Webhook {
  id: string;
  url: string;
  /** The types of events that it receives: `["*"]`, or a list. */
  types: Array<string>;
  /** Whether events are sent: neither you nor the service disabled it. */
  enabled: boolean;
  createdAt: string;
  /** The first failure after the last success. Null if the last one succeeded. */
  failingSince: string | null;
  /** When the service disabled it. Enable it to have events sent again. */
  disabledAt: string | null;
  /** `failing`: only failures for 5 days. `gone`: it answered 410. */
  disabledReason: string | null;
}

/** One POST to the endpoint. */
export interface WebhookAttempt {
  at: string;
  /** Null if there was no response. */
  statusCode: number | null;
  milliseconds: number;
  /** Why it failed, or the start of an error response. Null if it succeeded. */
  error: string | null;
}

/** The delivery of an event to the endpoint. */
export interface WebhookDelivery {
  /** The delivery's id, for a replay. */
  id: string;
  /** The header `webhook-id` of each attempt. */
  eventId: string;
  type: WebhookType;
  /** Null if the event is of no single message. */
  messageId: string | null;
  /** When the event happened. */
  at: string;
  status: DeliveryState;
  /** The oldest first. */
  attempts: Array<WebhookAttempt>;
  /** When the next attempt is, if one follows. */
  nextAttemptAt: string | null;
}

/** Deliveries of the last 30 days, those of the newest events first. */
export interface WebhookDeliveryPage {
  items: Array<WebhookDelivery>;
  /** For the parameter `cursor`; null at the end. */
  nextCursor: string | null;
}

/** Why an email was delayed, bounced or failed. */
export interface WebhookError {
  code: string | null;
  message: string | null;
  permanent: boolean;
}

/** All endpoints of the account, the oldest first. */
export interface WebhookList {
  items: Array<Webhook>;
}

/** The events that will be sent again. */
export interface WebhookReplay {
  /** How many events. */
  queued: number;
  /** The `to` of the next request, if events of the range are left. */
  nextTo: string | null;
}

/** The type of an event. */
export type WebhookType = "email.accepted" | "email.sent" | "email.delivered" | "email.delayed" | "email.bounced" | "email.complained" | "email.failed" | "suppression.added" | "domain.verified" | "domain.failed" | "account.paused" | "webhook.test";

/** An endpoint with its new secret. No other response shows the secret: save it now. */
export interface WebhookWithSecret {
  id: string;
  url: string;
  /** The types of events that it receives: `["*"]`, or a list. */
  types: Array<string>;
  /** Whether events are sent: neither you nor the service disabled it. */
  enabled: boolean;
  createdAt: string;
  /** The first failure after the last success. Null if the last one succeeded. */
  failingSince: string | null;
  /** When the service disabled it. Enable it to have events sent again. */
  disabledAt: string | null;
  /** `failing`: only failures for 5 days. `gone`: it answered 410. */
  disabledReason: string | null;
  /** The secret that signs the events (Standard Webhooks). */
  secret: string;
}

/** What a webhook delivers. */
export type WebhookEvent = EmailEvent | SuppressionEvent | DomainEvent | PausedEvent | TestEvent;

export interface RequestOptions {
  /** Ends the request and its retries. */
  signal?: AbortSignal;
}

export interface SendOptions extends RequestOptions {
  /** Without it, each call has a key of its own, which its retries repeat. */
  idempotencyKey?: string;
}

/** The operations that an API key may call. */
export interface Operations {
  /** List messages: `GET /v1/emails`. */
  listMessages(query?: { from?: string; to?: string; status?: Status; skip?: number; limit?: number; sortBy?: SortBy; recipient?: string; tag?: string; keyId?: string; template?: string }, options?: RequestOptions): Promise<MessagePage>;
  /** Send an email: `POST /v1/emails`. */
  sendEmail(body: SendEmailRequest, options?: SendOptions): Promise<SendResult>;
  /** Get analytics: `GET /v1/emails/analytics`. */
  getAnalytics(query?: { from?: string; bucket?: Bucket; keyId?: string; template?: string; to?: string }, options?: RequestOptions): Promise<Analytics>;
  /** Send a batch: `POST /v1/emails/batch`. */
  sendBatch(body: SendBatchRequest, options?: SendOptions): Promise<BatchResult>;
  /** Get a message: `GET /v1/emails/{message_id}`. */
  getMessage(messageId: string, options?: RequestOptions): Promise<MessageDetail>;
  /** Get the API key of the request: `GET /v1/me`. */
  getMe(options?: RequestOptions): Promise<CallerDetail>;
  /** List starter templates: `GET /v1/starter-templates`. */
  listStarterTemplates(options?: RequestOptions): Promise<Array<StarterTemplate>>;
  /** Preview a starter template: `POST /v1/starter-templates/{slug}/preview`. */
  previewStarterTemplate(slug: StarterSlug, body?: RenderStarterRequest, options?: RequestOptions): Promise<StarterPreview>;
  /** List saved templates: `GET /v1/templates`. */
  listTemplates(query?: { skip?: number; limit?: number }, options?: RequestOptions): Promise<SavedTemplatePage>;
  /** Get a saved template: `GET /v1/templates/{id}`. */
  getTemplate(id: string, options?: RequestOptions): Promise<SavedTemplateDetail>;
  /** Delete a saved template: `DELETE /v1/templates/{id}`. */
  deleteTemplate(id: string, options?: RequestOptions): Promise<void>;
  /** List webhook endpoints: `GET /v1/webhooks`. */
  listWebhooks(options?: RequestOptions): Promise<WebhookList>;
  /** Create a webhook endpoint: `POST /v1/webhooks`. */
  createWebhook(body: CreateWebhookRequest, options?: RequestOptions): Promise<WebhookWithSecret>;
  /** Get a webhook endpoint: `GET /v1/webhooks/{endpoint_id}`. */
  getWebhook(endpointId: string, options?: RequestOptions): Promise<Webhook>;
  /** Change a webhook endpoint: `PATCH /v1/webhooks/{endpoint_id}`. */
  changeWebhook(endpointId: string, body: ChangeWebhookRequest, options?: RequestOptions): Promise<Webhook>;
  /** Delete a webhook endpoint: `DELETE /v1/webhooks/{endpoint_id}`. */
  deleteWebhook(endpointId: string, options?: RequestOptions): Promise<void>;
  /** Rotate the secret: `POST /v1/webhooks/{endpoint_id}/rotate`. */
  rotateWebhookSecret(endpointId: string, options?: RequestOptions): Promise<WebhookWithSecret>;
  /** Test a webhook endpoint: `POST /v1/webhooks/{endpoint_id}/test`. */
  testWebhook(endpointId: string, options?: RequestOptions): Promise<QueuedWebhookEvent>;
  /** List deliveries: `GET /v1/webhooks/{endpoint_id}/deliveries`. */
  listWebhookDeliveries(endpointId: string, query?: { limit?: number; cursor?: string }, options?: RequestOptions): Promise<WebhookDeliveryPage>;
  /** Replay a delivery: `POST /v1/webhooks/{endpoint_id}/deliveries/{delivery_id}/replay`. */
  replayWebhookDelivery(endpointId: string, deliveryId: string, options?: RequestOptions): Promise<QueuedWebhookEvent>;
  /** Replay a time range: `POST /v1/webhooks/{endpoint_id}/replay`. */
  replayWebhookEvents(endpointId: string, body: ReplayWebhookRequest, options?: RequestOptions): Promise<WebhookReplay>;
}
