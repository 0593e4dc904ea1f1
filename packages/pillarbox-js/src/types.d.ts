// Written by `make openapi` from docs/openapi.json.

/** The account of the session. A setting is null if it was never set. */
export interface Account {
  id: string;
  name: string;
  plan: Plan;
  createdAt: string;
  /** What all keys together may send. */
  limits: Array<LimitState>;
  brandName: string | null;
  logoUrl: string | null;
  /** A colour such as `#0a7d5a`. */
  accent: string | null;
  /** The sender's display name. */
  fromName: string | null;
  /** Where recipients get help. */
  supportEmail: string | null;
  /** The postal address. */
  companyAddress: string | null;
  /** The link of the button of `welcome`. */
  actionUrl: string | null;
  defaultSender: string | null;
  /** Where the service writes to the account's owner. Without a default sender the account sends to this address only. */
  contact: string | null;
  /** How long the content of emails is kept; 0: not. */
  keepDays: number;
  /** When records are deleted; 0: never. */
  recordDays: number;
  /** Whether answers come back to emails whose send does not say so. */
  replies: boolean;
  /** Where they come; null: no domain of the account receives. */
  replyDomain: string | null;
  /** How long received mail is kept. */
  receivedDays: number;
  /** What sends less or nothing now, and warnings. */
  pauses: Array<PauseItem>;
}

/** What was done to an account, or to what it has. */
export type AccountAction = "approved" | "changed" | "suspended" | "resumed" | "api.called" | "key.created" | "key.revoked" | "member.invited" | "member.joined" | "member.changed" | "member.removed" | "passkey.added" | "passkey.removed" | "passkey.stopped" | "webhook.created" | "webhook.changed" | "webhook.deleted" | "sending.resumed" | "alerts.changed" | "domain.added" | "domain.removed" | "domain.lost" | "domain.shared" | "sender.added" | "sender.removed" | "content.read" | "content.resent" | "received.read" | "receiving.begun" | "receiving.ended" | "keep.changed" | "records.changed";

/** A part of the account's log, the newest first. */
export interface AccountLog {
  items: Array<LogItem>;
  /** Null at the end. */
  nextCursor: string | null;
}

/** A part of the list of accounts, sorted by id. */
export interface AccountPage {
  items: Array<ListedAccount>;
  /** For the parameter `cursor`; null at the end. */
  nextCursor: string | null;
}

/** A domain to send from. */
export interface AddDomainRequest {
  /** Such as `shop.example`. */
  domain: string;
  /** The label of its MAIL FROM domain, if the domain is new to SES: `bounce` for `bounce.shop.example`, and `mail` by default. */
  mailFrom?: string | null;
}

/** An address to send from. */
export interface AddSenderRequest {
  /** An address of a verified domain or of a subdomain of it. */
  address: string;
}

/** Give either `address` or `addresses`. */
export interface AddSuppressionsRequest {
  /** An address. */
  address?: string | null;
  /** Addresses, each alone or as `Name <address>`. */
  addresses?: Array<string> | null;
}

/** The suppressions of the given addresses. An earlier one keeps its reason. */
export interface AddedSuppressions {
  items: Array<Suppression>;
  /** Those of `addresses` that were left out. */
  refused: Array<RefusedAddress>;
}

/** What the key of an agent may do. */
export interface AgentLimits {
  /** Addresses and domains that it may send to; `*` is every one. */
  recipients: Array<string>;
  /** Who confirms each send: the agent's user, an owner, or none of them. */
  confirmation: Confirmation;
  /** How many emails it may send a day. */
  perDay: number;
}

/** How the owners of the account hear of what happens in it. */
export interface AlertDetail {
  /** Whether the owners and the contact get emails. */
  mail: boolean;
  /** The host of the chat's webhook and the last four characters of its URL, which is a secret; null if there is none. */
  chat: string | null;
  /** False if the operator of the service switched webhooks off. */
  chatAllowed: boolean;
  /** The last post to the chat; null if there was none. */
  lastPost: ChatPostItem | null;
  /** What they do not want to hear of. */
  off: Array<AlertKind>;
}

/** What an alert is about. Owners may turn each off. */
export type AlertKind = "sending" | "volume" | "domain" | "quota" | "endpoint" | "agent" | "unused_key";

/** Figures of the messages that were created within a time range. */
export interface Analytics {
  totalMessages: number;
  /** The fraction of what was sent; 0 if nothing was. */
  deliveryRate: number;
  /** Permanent bounces only. A transient bounce is no sign of a bad address; it may even be an out-of-office reply to a message that was delivered. */
  bounceRate: number;
  /** The fraction of what was sent; 0 if nothing was. */
  complaintRate: number;
  windowStart: string;
  windowEnd: string;
  bucket: Bucket;
  /** How many of the messages have each status now: the `total` of their list with `status` and the same time range. */
  statuses: StatusCounts;
  secondsToSent: SecondsToSent;
  /** A row for every hour or day of the time range, in order. */
  volume: Array<AnalyticsRow>;
  /** Most frequent first. */
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

/** What to answer: a text, HTML or both. */
export interface AnswerRequest {
  /** At most 1 MB. Without it, one is made from the HTML. */
  text?: string | null;
  /** At most 2 MB. */
  html?: string | null;
  /** A verified sender of the account; by default the default sender. */
  from?: string | null;
}

/** The email that a received mail answers. */
export interface AnsweredEmail {
  messageId: string;
  /** The tags of the email. */
  tags: Record<string, string>;
  /** The id of its saved template, or the slug of its starter template. */
  template: string | null;
}

/** An approval. Without a plan, that of all new accounts counts. */
export interface ApprovalBody {
  /** The plan of the account. */
  plan?: Plan | null;
}

/** A file in an email, with its content or by the id of its upload. The content is not kept after the delivery. */
export interface Attachment {
  /** The id of an uploaded file, from `POST /api/v1/attachments`. It replaces `filename`, `contentType` and `content`. */
  attachmentId?: string | null;
  /** A plain name: no path, no colon, no invisible character, no dot or blank at the end, no device of Windows such as CON, and no extension that SES refuses (.exe, .js, .bat, .lnk, .hta, …). */
  filename?: string | null;
  /** The type of the file (RFC 6838), without parameters. Without it, the file's extension decides. */
  contentType?: AttachmentType | null;
  /** The file's bytes in base64 (RFC 4648 section 4), padded. */
  content?: string | null;
  /** Whether the HTML shows the file, as cid:<contentId>. False by default. */
  inline?: boolean | null;
  /** Required if `inline` is true, else not allowed. Unique in an email. */
  contentId?: string | null;
}

/** A type of file that an email may have (RFC 6838): application/msword, application/pdf, application/vnd.ms-excel, application/vnd.ms-powerpoint, application/vnd.openxmlformats-officedocument.presentationml.presentation, application/vnd.openxmlformats-officedocument.spreadsheetml.sheet, application/vnd.openxmlformats-officedocument.wordprocessingml.document, image/gif, image/jpeg, image/png, image/webp, text/calendar, text/csv, text/plain. A `charset` may follow, and the `method` of a calendar. Without them a text in UTF-8 gets `charset=utf-8`, and a calendar gets the method of its METHOD line. */
export type AttachmentType = string;

/** What kind of program wrote a mail. */
export type Automatic = "reply" | "report" | "list";

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
  /** Only with `scheduledAt` in the message. */
  scheduledAt?: string;
  /** Only if it waits for its release. */
  held?: true;
  /** Only if the key belongs to an agent whose emails an owner releases. */
  awaitsOwner?: true;
}

/** A result for each message, in the order of the request. Check `error` of each. */
export interface BatchResult {
  results: Array<BatchItem>;
}

/** The length of time that one row of analytics covers. */
export type Bucket = "hour" | "day";

/** What somebody answered to an invitation (RFC 5546). */
export interface CalendarReply {
  method: string;
  uid: string | null;
  attendee: string | null;
  /** Such as `accepted`, `declined` and `tentative`. */
  status: string | null;
}

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
  /** From when on it does not work; null: it stays. */
  expiresAt: string | null;
  /** The blocks of addresses that it works from; none: from everywhere. */
  sources: Array<string>;
  /** Null while the key works. */
  revokedAt: string | null;
  accountId: string;
  plan: Plan;
  /** The account's limits, which its keys share; a preview key has others. An agent's key shows its own limit where that has less left. */
  limits: Array<LimitState>;
}

/** Changes to the account. Null changes nothing, and an empty text removes it. */
export interface ChangeAccountRequest {
  /** The account's name. */
  name?: string | null;
  /** Shown at the top of templates. */
  brandName?: string | null;
  /** An https: URL of an image. */
  logoUrl?: string | null;
  /** A colour that is visible on light and dark backgrounds. */
  accent?: string | null;
  /** The sender's display name. */
  fromName?: string | null;
  /** Where recipients of starters get help: an address, or a web or `mailto:` URL. */
  supportEmail?: string | null;
  /** The postal address that starters show. */
  companyAddress?: string | null;
  /** The link of the button of `welcome`. */
  actionUrl?: string | null;
  /** For how many days to keep the content of emails from now on, for owners, developers and keys with `emails:content`; 0: not at all. A lower number is in force for older emails too. */
  keepDays?: number | null;
  /** After how many days to delete the records of emails for good, with addresses, subjects and tags: 90 or more; 0: never. Figures stay. */
  recordDays?: number | null;
  /** Whether answers come back to emails whose send does not say so (`replies`). It needs a domain that receives; until then it has no effect. */
  replies?: boolean | null;
  /** For how many days to keep received mail from now on. */
  receivedDays?: number | null;
}

/** What the owners hear of. Null changes nothing, and an empty `chatUrl` removes it. */
export interface ChangeAlertsRequest {
  /** Whether the owners and the contact get emails. */
  mail?: boolean | null;
  /** The incoming webhook of a room in Slack or Teams; not shown again. */
  chatUrl?: string | null;
  /** What they do not want to hear of. */
  off?: Array<AlertKind> | null;
}

/** What a domain receives. */
export interface ChangeDomainRequest {
  /** The label below the domain that receives answers: `in` for `in.shop.example`. Its MX record is among the records then. An empty text switches receiving off. */
  receive?: string | null;
  /** Names that get mail which answers no email, such as `support`: at most 20. */
  receiveNames?: Array<string> | null;
}

/** Another role. */
export interface ChangeMemberRequest {
  /** The new role in the account. */
  role: Role;
}

/** Changes to an endpoint. Null changes nothing. */
export interface ChangeWebhookRequest {
  /** An https: URL on a public host, with port 443 or one from 1024 on. With `roleArn`: the ARN of an event bus, or `s3://BUCKET/PREFIX/`. It stays of its kind. */
  url?: string | null;
  /** `["*"]`, which means all types except `email.accepted`, or a list of types. */
  types?: Array<"*" | "account.paused" | "domain.failed" | "domain.verified" | "email.accepted" | "email.bounced" | "email.complained" | "email.delayed" | "email.delivered" | "email.failed" | "email.received" | "email.sent" | "suppression.added"> | null;
  /** Whether events are sent. */
  enabled?: boolean | null;
  /** The shape of the payloads. `pillarbox` is the default; `resend` is that of Resend's webhooks, for receivers that were written for it; `postmark` has `email.received` as Postmark's inbound webhook. The types are chosen by our names. The signature is the same. */
  format?: WebhookFormat | null;
  /** For an event bus or a bucket in your AWS account: a role in it that may put events there, whose name begins with `pillarbox-events`. Its trust policy is the `trustPolicy` of the endpoint. */
  roleArn?: string | null;
}

/** A setting, or a role, before and after a change. Null if it is not set, or the plan's. */
export interface ChangedSetting {
  name: string;
  before: string | number | boolean | null;
  after: string | number | boolean | null;
}

/** How a post to the chat went. */
export interface ChatPostItem {
  at: string;
  /** Why it failed; null if it did not. */
  error: string | null;
}

/** A DNS record with what DNS says now. */
export interface CheckedDnsRecord {
  /** `OWNERSHIP` lets this account use the domain, and `DKIM` lets it send. The others make it more likely that mail arrives. */
  purpose: string;
  /** `CNAME`, `MX` or `TXT`. */
  type: string;
  /** The full name, without a dot at its end. */
  host: string;
  /** An `MX` has its preference first. */
  value: string;
  dns: DnsAnswer;
}

/** The account of an access token. */
export interface ChosenAccount {
  id: string;
  name: string;
  plan: Plan;
}

/** Who confirms each send of a key. */
export type Confirmation = "ask" | "owner" | "off";

/** A file in the kept content of a message. */
export interface ContentFile {
  filename: string | null;
  contentType: string;
  /** In bytes, decoded. */
  size: number;
}

/** A link that downloads the message, for everybody who has it. */
export interface ContentLink {
  url: string;
  expiresAt: string;
}

/** A new account, without senders and keys. */
export interface CreateAccountRequest {
  /** A name for people. */
  name: string;
  /** The account's plan. */
  plan: Plan;
  /** Where the service writes to the account's owner. */
  contact?: string | null;
}

/** A new API key. */
export interface CreateKeyRequest {
  /** A name for people. */
  name: string;
  /** A set of permissions. */
  preset: Preset;
  /** The permissions of the key, with the preset `custom` alone. */
  scopes?: Array<"account:read" | "account:write" | "accounts:read" | "accounts:write" | "domains:read" | "domains:write" | "drafts:read" | "drafts:write" | "emails:content" | "emails:read" | "emails:send" | "keys:read" | "keys:write" | "marketing:campaigns:read" | "marketing:campaigns:write" | "marketing:contacts:read" | "marketing:contacts:write" | "members:read" | "members:write" | "received:read" | "senders:write" | "suppressions:read" | "suppressions:write" | "templates:read" | "templates:write" | "webhooks:read" | "webhooks:write"> | null;
  /** From when on it does not work; without it, it stays. */
  expiresAt?: string | null;
  /** The blocks of addresses (CIDR) that it works from; without it, all. */
  sources?: Array<string> | null;
}

/** A new template, with a starter, some HTML or a few words as its draft. */
export interface CreateTemplateRequest {
  /** For people. */
  name: string;
  /** A label for sorting. */
  category: string;
  /** The starter to begin with. */
  starterTemplate?: StarterSlug | null;
  /** HTML to begin with. */
  html?: string | null;
}

/** A new endpoint. */
export interface CreateWebhookRequest {
  /** An https: URL on a public host, with port 443 or one from 1024 on. With `roleArn`: the ARN of an event bus, or `s3://BUCKET/PREFIX/`. It stays of its kind. */
  url: string;
  /** `["*"]`, which means all types except `email.accepted`, or a list of types. */
  types: Array<"*" | "account.paused" | "domain.failed" | "domain.verified" | "email.accepted" | "email.bounced" | "email.complained" | "email.delayed" | "email.delivered" | "email.failed" | "email.received" | "email.sent" | "suppression.added">;
  /** The shape of the payloads. `pillarbox` is the default; `resend` is that of Resend's webhooks, for receivers that were written for it; `postmark` has `email.received` as Postmark's inbound webhook. The types are chosen by our names. The signature is the same. */
  format?: WebhookFormat | null;
  /** For an event bus or a bucket in your AWS account: a role in it that may put events there, whose name begins with `pillarbox-events`. Its trust policy is the `trustPolicy` of the endpoint. */
  roleArn?: string | null;
}

/** How far the deletion of an account is. */
export interface DeletionState {
  id: string;
  /** If not, repeat the request: the deletion goes on. */
  done: boolean;
  /** How many records this request deleted. */
  items: number;
}

/** Whether the event arrived, another attempt follows, or none does. */
export type DeliveryState = "waiting" | "delivered" | "failed";

/** What DNS says now. */
export interface DnsAnswer {
  /** `unknown`: DNS did not answer in time. */
  status: "present" | "missing" | "differs" | "unknown";
  /** The values that DNS has. */
  values: Array<string>;
  /** What to do if DNS has another value; else empty. */
  advice: string;
}

/** A DNS record that the domain needs. */
export interface DnsRecord {
  /** `OWNERSHIP` lets this account use the domain, and `DKIM` lets it send. The others make it more likely that mail arrives. */
  purpose: string;
  /** `CNAME`, `MX` or `TXT`. */
  type: string;
  /** The full name, without a dot at its end. */
  host: string;
  /** An `MX` has its preference first. */
  value: string;
}

/** A domain of the account with the DNS records that it needs. */
export interface Domain {
  domain: string;
  status: DomainState;
  /** The label of its MAIL FROM domain. */
  mailFrom: string;
  createdAt: string;
  /** When the provider was asked about it. */
  checkedAt: string;
  /** Until when a link to its DNS records works; null if there is none. */
  linkExpiresAt: string | null;
  /** The domain below it that receives answers; null: none. */
  receives: string | null;
  /** The names there that get mail which answers no email. */
  receiveNames: Array<string>;
  records: Array<DnsRecord>;
}

/** The `data` of `domain.verified` and `domain.failed`. */
export interface DomainData {
  domain: string;
}

/** A domain of the account with its DNS records, and what DNS says of each now. */
export interface DomainDetail {
  domain: string;
  status: DomainState;
  /** The label of its MAIL FROM domain. */
  mailFrom: string;
  createdAt: string;
  /** When the provider was asked about it. */
  checkedAt: string;
  /** Until when a link to its DNS records works; null if there is none. */
  linkExpiresAt: string | null;
  /** The domain below it that receives answers; null: none. */
  receives: string | null;
  /** The names there that get mail which answers no email. */
  receiveNames: Array<string>;
  records: Array<CheckedDnsRecord>;
}

/** The provider verified a sender domain of the account, or no longer does. */
export interface DomainEvent {
  type: "domain.verified" | "domain.failed";
  timestamp: string;
  data: DomainData;
}

/** A new link to the DNS records of a domain. Only this response has it. */
export interface DomainLinkItem {
  /** It shows the records without signing in. */
  url: string;
  expiresAt: string;
}

/** All domains of the account, sorted by name. */
export interface DomainList {
  items: Array<Domain>;
}

/** Whether the account can send from a domain. */
export type DomainState = "verified" | "pending" | "failed";

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
  messageIdHeader: string | null;
  to: Array<string>;
  subject: string;
  templateId: string | null;
  starterTemplate: string | null;
  tags: Record<string, string>;
  scheduledAt: string | null;
  held: boolean;
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

/** A new member. */
export interface InviteMemberRequest {
  /** The user's address. */
  email: string;
  /** The role in the account. */
  role: Role;
}

/** When SES pauses an account by itself; `none`: only with all others. */
export type Isolation = "none" | "standard" | "strict";

/** An API key in the list of its account. */
export interface Key {
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
  /** From when on it does not work; null: it stays. */
  expiresAt: string | null;
  /** The blocks of addresses that it works from; none: from everywhere. */
  sources: Array<string>;
  /** Null while the key works. */
  revokedAt: string | null;
  /** The member or the key that made it, or `operator`; null if that is not known. */
  createdBy: string | null;
}

/** The keys of an account, the oldest first, and what a new one may be. */
export interface KeyList {
  items: Array<Key>;
  presets: Array<KeyPreset>;
  /** All that a key of an account can have. */
  permissions: Array<PermissionItem>;
  /** The page about paid plans. */
  upgradeUrl: string;
  /** Null if the service has no SMTP relay. */
  smtp: SmtpServer | null;
}

/** A named set of permissions for a new key, under the account's plan. */
export interface KeyPreset {
  preset: Preset;
  /** What the key gets; for `custom` what it can get. */
  scopes: Array<string>;
  /** Those that the plan does not allow. */
  refusedScopes: Array<string>;
  /** Whether the plan allows the preset. */
  allowed: boolean;
  /** Why scopes are refused. */
  reason: string | null;
}

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

/** An account of the service. */
export interface ListedAccount {
  id: string;
  name: string;
  plan: Plan;
  createdAt: string;
  /** Null if it is not suspended. */
  suspendedAt: string | null;
  /** The limits in force. */
  limits: Array<LimitState>;
}

/** What a template has for one locale. */
export interface LocaleItem {
  subject: string;
  source: string;
  /** The text part. Null makes one of the HTML at each send. */
  text: string | null;
}

/** What a template has for one locale. */
export interface LocaleModel {
  /** Text with plain references. */
  subject: string;
  /** The body, in the language of `kind`. */
  source: string;
  /** The text part, with plain references. */
  text?: string | null;
}

/** What was done to the account, or to what it has. */
export interface LogItem {
  id: string;
  at: string;
  action: AccountAction;
  /** The address of a member, the id of a key, `operator` for the operator's command or `service` for the service itself. Members do not see which operator it was: null. */
  by: string | null;
  /** The key, member, endpoint or domain; null for the account itself. */
  subject: string | null;
  /** How often, if it is a call: equal ones of a minute. */
  count: number;
  changes: Array<ChangedSetting>;
}

/** The two parts of a log: calls are apart, so that they crowd out no change. */
export type LogPart = "changes" | "calls";

/** What Amazon SES found when it received a mail. */
export type MailVerdict = "pass" | "fail" | "unknown";

/** A user with a role in the account. */
export interface Member {
  id: string;
  email: string;
  role: Role;
  /** Whether it has yet to agree. Until then it has no rights. */
  pending: boolean;
  /** Whether it is the user of the request. */
  current: boolean;
  /** When it was invited last, or added. */
  createdAt: string;
}

/** The members of the account, the oldest first. */
export interface MemberList {
  items: Array<Member>;
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
  /** When it is or was due; null for a message that was sent at once, or is held. */
  scheduledAt: string | null;
  /** Whether it waits for its release. */
  held: boolean;
  /** Whether only an owner can release it. */
  awaitsOwner: boolean;
  /** The message that it repeats. */
  resendOf: string | null;
}

/** The kept content of a message. */
export interface MessageContent {
  messageId: string;
  subject: string;
  /** Null if there is none, or it is larger than 512 KB. */
  html: string | null;
  /** Null if there is none, or it is larger than 512 KB. */
  text: string | null;
  attachments: Array<ContentFile>;
  /** Of the whole message, in bytes. */
  size: number;
  /** Until when it is kept. */
  kept: string;
  /** The whole message as a file (RFC 5322). */
  eml: ContentLink;
}

/** A message and its events. */
export interface MessageDetail {
  messageId: string;
  status: Status;
  /** The first address in `to`. */
  recipientEmail: string;
  subject: string;
  fromName: string | null;
  /** SES's id; empty until it is sent. */
  providerMessageId: string;
  /** Why the message failed, bounced or led to a complaint. */
  errorMessage: string | null;
  createdAt: string;
  updatedAt: string;
  /** The delivered Message-ID. */
  messageIdHeader: string | null;
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
  /** When it is or was due; null for a message that was sent at once, or is held. */
  scheduledAt: string | null;
  /** Whether it waits for its release. */
  held: boolean;
  /** Whether only an owner can release it. */
  awaitsOwner: boolean;
  /** When it was canceled; null if it was not. */
  canceledAt: string | null;
  /** Until when its content is kept; null: not. */
  kept: string | null;
  /** The message that it repeats. */
  resendOf: string | null;
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

/** A new API key. Only this response has its text. */
export interface NewKey {
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
  /** From when on it does not work; null: it stays. */
  expiresAt: string | null;
  /** The blocks of addresses that it works from; none: from everywhere. */
  sources: Array<string>;
  /** Null while the key works. */
  revokedAt: string | null;
  /** Save it now: it is shown only once. */
  key: string;
}

/** Changes to an account. Null changes nothing. */
export interface OperateAccountRequest {
  /** The account's plan. */
  plan?: Plan | null;
  /** All limits of its own, in place of those that it has. */
  ownLimits?: OwnLimits | null;
  /** Whether the account has a reputation of its own at SES, as a tenant, and when SES pauses it: at grave findings (`standard`) or any (`strict`). */
  isolation?: Isolation | null;
}

/** An account, as an operator sees it. */
export interface OperatedAccount {
  id: string;
  name: string;
  plan: Plan;
  createdAt: string;
  /** What all keys together may send. */
  limits: Array<LimitState>;
  brandName: string | null;
  logoUrl: string | null;
  /** A colour such as `#0a7d5a`. */
  accent: string | null;
  /** The sender's display name. */
  fromName: string | null;
  /** Where recipients get help. */
  supportEmail: string | null;
  /** The postal address. */
  companyAddress: string | null;
  /** The link of the button of `welcome`. */
  actionUrl: string | null;
  defaultSender: string | null;
  /** Where the service writes to its owner. */
  contact: string | null;
  /** How long the content of emails is kept; 0: not. */
  keepDays: number;
  /** When records are deleted; 0: never. */
  recordDays: number;
  /** Whether answers come back to emails whose send does not say so. */
  replies: boolean;
  /** Where they come; null: no domain of the account receives. */
  replyDomain: string | null;
  /** How long received mail is kept. */
  receivedDays: number;
  /** What sends less or nothing now, and warnings. */
  pauses: Array<PauseItem>;
  /** Null if it is not suspended. */
  suspendedAt: string | null;
  suspensionReason: string | null;
  /** What happens to its emails that were accepted before; null if it is not suspended. */
  queuedMail: QueuedMail | null;
  senders: Array<string>;
  /** Over how many partitions its emails are spread. */
  shards: number;
  /** Since or from when on; null for one partition. */
  shardedFrom: string | null;
  /** Whether an email fails that SES may have sent; otherwise it is sent again. */
  holdUncertain: boolean;
  /** Whether SES pauses the account alone, and when. */
  isolation: Isolation;
  /** Its tenant at SES. */
  tenant: string | null;
  ownLimits: OwnLimitValues;
  /** The last 50, the newest first. */
  log: Array<OperatorLogItem>;
}

/** What was done to the account, as operators see it: with the operator's address. */
export interface OperatorLogItem {
  id: string;
  at: string;
  action: AccountAction;
  /** The address of a member, the id of a key, `operator` for the operator's command or `service` for the service itself. Members do not see which operator it was: null. */
  by: string | null;
  /** The key, member, endpoint or domain; null for the account itself. */
  subject: string | null;
  /** How often, if it is a call: equal ones of a minute. */
  count: number;
  changes: Array<ChangedSetting>;
  /** Members of the account do not see it. */
  reason: string | null;
}

/** The limits of an account that replace the plan's. */
export interface OwnLimitValues {
  /** Null for the plan's limit. */
  perMinute: number | null;
  /** Null for the plan's limit. */
  perDay: number | null;
  /** Null for the plan's limit. */
  perMonth: number | null;
  /** Null for the plan's limit. */
  recipientsPerDay: number | null;
}

/** The limits of an account; null is the plan's limit. */
export interface OwnLimits {
  /** Emails per minute. */
  perMinute?: number | null;
  /** Emails per day of UTC. */
  perDay?: number | null;
  /** Emails per month of UTC. */
  perMonth?: number | null;
  /** Recipients per day of UTC. */
  recipientsPerDay?: number | null;
}

/** Why there is a pause. */
export type PauseCause = "bounces" | "complaints" | "provider";

/** A pause of the account, a key or a template, or a warning that there may soon be one. */
export interface PauseItem {
  scope: PauseScope;
  /** The key, or the template by its id or slug; null for the account. */
  id: string | null;
  /** `warn`: everything is sent. `brake`: a tenth of the limit of a minute is left. `stop`: nothing is accepted, except codes unless it is the account's. */
  level: PauseLevel;
  cause: PauseCause;
  since: string;
  /** When it ends; null if somebody has to end it. */
  until: string | null;
  /** Whether an owner may end it now. */
  resumable: boolean;
}

/** How strict a pause is, from the mildest on. */
export type PauseLevel = "warn" | "brake" | "stop";

/** What a pause is about. */
export type PauseScope = "account" | "key" | "template";

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

/** The users who wait for the operator, the oldest request first. */
export interface PendingList {
  items: Array<PendingSignUp>;
}

/** A user who asks for an account. */
export interface PendingSignUp {
  email: string;
  /** Of the account. */
  name: string;
  createdAt: string;
}

/** What a permission allows. */
export interface PermissionItem {
  scope: string;
  /** It completes the sentence "The key may …". */
  allows: string;
}

/** The plan of an account. */
export type Plan = "free" | "standard" | "enterprise";

/** A named set of permissions. */
export type Preset = "send" | "marketing" | "analytics" | "custom";

/** The template that sends use from now on. */
export interface PublishedTemplate {
  id: string;
  version: number;
  variables: Array<string>;
  /** Those that it has beside the default. */
  locales: Array<string>;
  updatedAt: string;
  /** `variable_not_sent` for each variable that it needs and that recent sends did not give. */
  problems: Array<TemplateProblem>;
}

/** What happens to the emails that a suspended account has in the queue. */
export type QueuedMail = "send" | "hold" | "drop";

/** An event that will be sent to the endpoint. */
export interface QueuedWebhookEvent {
  /** The id of its delivery. */
  id: string;
  /** The header `webhook-id` of each attempt. */
  eventId: string;
  type: WebhookType;
}

/** A received mail with its content. */
export interface ReceivedDetail {
  receivedId: string;
  receivedAt: string;
  /** The address in From. Anybody can write one: see `authenticated`. */
  from: string;
  fromName: string | null;
  /** The address of the account that it came to. */
  to: string;
  subject: string;
  /** Null if it answers no email of the account. */
  inReplyTo: AnsweredEmail | null;
  /** Whether the domain in `from` vouches for it. */
  authenticated: boolean;
  verdicts: ReceivedVerdicts;
  /** What a program wrote: an absent person's `reply`, a `report` about delivery, or a `list`. */
  automatic: Automatic | null;
  /** False if its content could not be read; `raw` has it all the same. */
  parsed: boolean;
  /** Of the raw mail, in bytes. */
  size: number;
  /** Until when it is kept. */
  kept: string;
  /** The Message-ID that its sender gave it. */
  messageIdHeader: string | null;
  /** The addresses in To. */
  allTo: Array<string>;
  cc: Array<string>;
  /** The addresses in Reply-To. */
  replyTo: Array<string>;
  /** What its writer wrote, without the quotation and the signature. */
  reply: string | null;
  text: string | null;
  /** Written by a stranger: show it in a frame without scripts. */
  html: string | null;
  /** Whether one of the three is longer than the 256 KB that are here. */
  cut: boolean;
  calendar: Array<CalendarReply>;
  /** At most 50; `raw` has all. */
  attachments: Array<ReceivedFile>;
  /** Downloads the whole mail (RFC 5322), for everybody who has the link, for an hour. */
  raw: string;
  linksUntil: string;
}

/** The account received a mail; the data are those of `GET /api/v1/received/{received_id}`. */
export interface ReceivedEvent {
  type: "email.received";
  timestamp: string;
  data: ReceivedDetail;
}

/** A file of a received mail. */
export interface ReceivedFile {
  filename: string | null;
  /** As its sender wrote it. */
  contentType: string;
  size: number;
  contentId: string | null;
  /** Whether the HTML may show it, as cid:<contentId>. */
  inline: boolean;
  /** Downloads it, for everybody who has the link, for an hour. */
  url: string;
}

/** A received mail in a list. */
export interface ReceivedMail {
  receivedId: string;
  receivedAt: string;
  /** The address in From. Anybody can write one: see `authenticated`. */
  from: string;
  fromName: string | null;
  /** The address of the account that it came to. */
  to: string;
  subject: string;
  /** Null if it answers no email of the account. */
  inReplyTo: AnsweredEmail | null;
  /** Whether the domain in `from` vouches for it. */
  authenticated: boolean;
  verdicts: ReceivedVerdicts;
  /** What a program wrote: an absent person's `reply`, a `report` about delivery, or a `list`. */
  automatic: Automatic | null;
  /** False if its content could not be read; `raw` has it all the same. */
  parsed: boolean;
  /** Of the raw mail, in bytes. */
  size: number;
  /** Until when it is kept. */
  kept: string;
}

/** Received mail, the newest first. */
export interface ReceivedMailPage {
  items: Array<ReceivedMail>;
  /** For the parameter `cursor`; null at the end. */
  nextCursor: string | null;
}

/** What Amazon SES found when it received a mail; nothing of it is the sender's word. */
export interface ReceivedVerdicts {
  spam: MailVerdict;
  virus: MailVerdict;
  spf: MailVerdict;
  dkim: MailVerdict;
  dmarc: MailVerdict;
}

/** An address that is not valid. */
export interface RefusedAddress {
  /** The position in `addresses`, from zero. */
  idx: number;
  message: string;
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

/** A source and values. */
export interface RenderTemplateRequest {
  /** The language of `source`. */
  kind: SourceKind;
  /** Text with plain references. */
  subject: string;
  /** The body. */
  source: string;
  /** The text part, with plain references. */
  text?: string | null;
  /** If this is for a locale, the template without one: variables that only one of the two has are problems. */
  default?: LocaleModel | null;
  /** The values to show: at most 256 KB and 8 levels. */
  variables?: Variables | null;
  /** The template whose recent sends to compare with what the source needs. */
  templateId?: string | null;
}

/** An email as a send would be, and what is wrong with its template. */
export interface RenderedTemplate {
  subject: string;
  /** Null if there is an error. */
  html: string | null;
  /** The text part of the email. */
  text: string | null;
  /** Of the HTML in UTF-8. */
  bytes: number;
  variables: Array<TemplateVariable>;
  problems: Array<TemplateProblem>;
}

/** A time range of emails, and types of their events. */
export interface ReplayWebhookRequest {
  /** Only emails accepted at or after this time. A time without an offset is UTC. */
  from: string;
  /** Only emails accepted before this time, which is after `from`. By default now. */
  to?: string | null;
  /** The types to send again, of those that begin with `email.`, but `email.received`. By default those of the endpoint. */
  types?: Array<"*" | "email.accepted" | "email.bounced" | "email.complained" | "email.delayed" | "email.delivered" | "email.failed" | "email.sent"> | null;
}

/** A new time for a message that waits for one. */
export interface RescheduleRequest {
  /** ISO 8601 with an offset, at least a minute and at most 30 days ahead. */
  scheduledAt: string;
}

/** To whom to send a message again. Without an address: to the same recipients. */
export interface ResendRequest {
  /** Another address. Without it, the recipients are the same. */
  to?: string | null;
}

/** The version that becomes the draft. */
export interface RestoreVersionRequest {
  /** The number of the version. */
  version: number;
}

/** What a user is in an account. */
export type Role = "owner" | "developer" | "author" | "viewer";

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

/** Values for previews, by the names of their sets: at most 64 KB. */
export type Samples = Record<string, Record<string, unknown>>;

/** A whole draft. */
export interface SaveDraftRequest {
  /** For people. */
  name: string;
  /** Text with plain references such as `{{ name }}`. */
  subject: string;
  /** A label for sorting. */
  category: string;
  /** The language of `source`. */
  kind: SourceKind;
  /** The body. It may have faults until it is published. */
  source: string;
  /** The text part, with plain references as in the subject. An empty one removes it; without the field it stays. */
  text?: string | null;
  /** For at most how many days to keep the content of its emails: never more than `keepDays` of the account. 90 is no limit of its own. Without the field they stay. */
  keepDays?: number | null;
  /** Without the field they stay. A send with the locale `de-CH` takes `de-CH`, else `de`, else the fields above. */
  locales?: TemplateLocales | null;
  samples?: Samples | null;
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
  /** The locales that it has beside the default. */
  locales: Array<string>;
  /** The most days to keep the content for. */
  keepDays: number;
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

/** Within how long half, and 95 of 100, of the messages were sent. Null if none was.

From the acceptance until the provider had the message. Right to a fifth, and never too low. */
export interface SecondsToSent {
  p50: number | null;
  p95: number | null;
}

/** Up to 100 emails. */
export interface SendBatchRequest {
  /** At most 1,000 recipients together. Each message is accepted or refused separately. */
  messages: Array<SendEmailRequest>;
}

/** Give exactly one of `starterTemplate`, `templateId` and `html`, or `text` alone with `subject`. Null means the same as leaving a field out. */
export interface SendEmailRequest {
  /** One address or several. `to`, `cc` and `bcc` have at most 50 recipients together. */
  to: string | Array<string>;
  /** A built-in template. */
  starterTemplate?: StarterSlug | null;
  /** A saved template. Not for preview keys. */
  templateId?: string | null;
  /** Only with `templateId`: a language tag (RFC 5646). `de-CH` takes the template's `de-CH`, else its `de`, else its default. */
  locale?: string | null;
  /** The HTML body, at most 2 MB in UTF-8. Requires `subject`. Not for preview keys. */
  html?: string | null;
  /** The text part, at most 1 MB in UTF-8. Without it, one is made from the HTML. It goes with all three modes, or alone with `subject`. Not for keys that send tests. */
  text?: string | null;
  /** The values for the template: at most 256 KB and 8 levels. `GET /api/v1/starter-templates` says which ones a starter needs and may have. In `html`, `text` and `subject` of your own each `{{ name }}` of a given value is replaced. */
  variables?: Variables | null;
  /** Required with `html` and with `text` alone. It replaces the subject of a template. */
  subject?: string | null;
  /** The sender's display name. It does not only consist of blanks and invisible characters. */
  fromName?: string | null;
  /** A verified sender of the account, alone or as `Name <address>`. Free plans ignore the address. */
  from?: string | null;
  /** Carbon copies. */
  cc?: Array<string> | null;
  /** Blind copies. */
  bcc?: Array<string> | null;
  /** The address for replies, alone or as `Name <address>`. */
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
  /** When to send it: ISO 8601 with an offset, at least a minute and at most 30 days ahead. Then key, account, sender and suppressions are checked again. Not for preview keys, and not with uploaded files. */
  scheduledAt?: string | null;
  /** Whether it waits until somebody releases it, for at most 7 days. Not with `scheduledAt`, for preview keys or with uploaded files. */
  hold?: boolean | null;
  /** For how many days to keep the content after the hand-over: at most `keepDays` of the account, which is 0 unless an owner has changed it. With 0 nothing is kept. */
  keep?: number | null;
  /** Whether answers come back to the service, which announces them as `email.received`. It needs a domain that receives (`PATCH /api/v1/domains/{domain}`). Without it, the account's setting decides. A `replyTo` of your own stays. */
  replies?: boolean | null;
}

/** The email is accepted: it is recorded and will be delivered. */
export interface SendResult {
  /** Use it to look the message up. */
  messageId: string;
  status: "queued";
  /** The address that the email is sent from. */
  from: string;
  /** Only with `scheduledAt` in the request. */
  scheduledAt?: string;
  /** Only if it waits for its release. */
  held?: true;
  /** Only if the key belongs to an agent whose emails an owner releases. */
  awaitsOwner?: true;
}

/** The ways in which a message can be accepted. */
export type SendRoute = "http" | "batch" | "smtp" | "mcp" | "notice";

/** An address that the account sends from. */
export interface Sender {
  address: string;
  verified: boolean;
  /** Whether emails without `from` have it. */
  default: boolean;
}

/** All senders of the account, sorted by address. */
export interface SenderList {
  items: Array<Sender>;
}

/** How bad a problem of a template is. Only an error stops its publication. */
export type Severity = "error" | "warning" | "note";

/** Where programs submit emails over SMTP: with STARTTLS, as user `apikey` with the key. */
export interface SmtpServer {
  host: string;
  port: number;
}

/** The field that a list of messages is sorted by, in descending order. */
export type SortBy = "created_at" | "updated_at" | "status";

/** The language of a template's source. */
export type SourceKind = "html" | "mjml";

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

/** An address that the account does not send to. */
export interface Suppression {
  /** In lower case, or a hash if the address was erased. */
  address: string;
  /** Whether `address` is a hash. */
  erased: boolean;
  /** `bounced`, `complained` or `manual`. */
  reason: string;
  createdAt: string;
  /** The message that caused it. */
  messageId: string | null;
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

/** A part of the list, sorted by address. */
export interface SuppressionPage {
  items: Array<Suppression>;
  /** For the parameter `cursor`; null at the end. */
  nextCursor: string | null;
}

/** Why the account is suspended. */
export interface SuspendRequest {
  /** A note that only operators see. */
  reason: string;
}

/** Names and values by which you find an email again. They are not delivered. They have at most 256 bytes in all. A value has no blank at either end. */
export type Tags = Record<string, string>;

/** A draft. */
export interface TemplateDraft {
  id: string;
  name: string;
  subject: string;
  category: string;
  kind: SourceKind;
  /** Give it as `If-Match`. */
  revision: number;
  /** The version that it was made from. 0 if there is none. */
  version: number;
  /** Whether it differs from that version. */
  changed: boolean;
  /** How many revisions it is after it. */
  changes: number;
  /** The address of a user, or `operator`. */
  updatedBy: string;
  updatedAt: string;
  /** The version that sends use. Null if there is none. */
  publishedVersion: number | null;
  source: string;
  /** The text part. Null makes one of the HTML at each send. */
  text: string | null;
  /** For at most how many days to keep the content of its emails: never more than `keepDays` of the account. */
  keepDays: number;
  /** By the language tag, in small letters. */
  locales: Record<string, LocaleItem>;
  /** Values for previews, by the names of their sets. */
  samples: Record<string, Record<string, unknown>>;
}

/** The saved drafts, those of the newest templates first. */
export interface TemplateDraftList {
  items: Array<TemplateDraftSummary>;
}

/** A draft as listed. */
export interface TemplateDraftSummary {
  id: string;
  name: string;
  subject: string;
  category: string;
  kind: SourceKind;
  /** Give it as `If-Match`. */
  revision: number;
  /** The version that it was made from. 0 if there is none. */
  version: number;
  /** Whether it differs from that version. */
  changed: boolean;
  /** How many revisions it is after it. */
  changes: number;
  /** The address of a user, or `operator`. */
  updatedBy: string;
  updatedAt: string;
}

/** Subject, body and text part for each locale, by its language tag (RFC 5646) in any case. */
export type TemplateLocales = Record<string, LocaleModel>;

/** Something that an author should know. */
export interface TemplateProblem {
  severity: Severity;
  code: string;
  message: string;
  /** `source`, `subject`, `text` or `variables`. */
  field: string;
  /** Of the source. */
  line: number | null;
  /** The nearest form that is allowed. */
  suggestion: string | null;
}

/** A path that the source refers to. `[]` marks a list: the rest applies to each entry. */
export interface TemplateVariable {
  path: string;
  /** Null if only the subject uses it. */
  line: number | null;
  required: boolean;
  /** Null if there is none. */
  default: unknown;
  /** A guess from its use. */
  type: "text" | "list" | "url";
}

/** A version with its source, and the HTML that was made of it. */
export interface TemplateVersion {
  version: number;
  /** Whether sends use it. */
  published: boolean;
  name: string;
  subject: string;
  category: string;
  kind: SourceKind;
  /** The address of a user, or `operator`. */
  publishedBy: string;
  publishedAt: string;
  source: string;
  /** The text part. Null makes one of the HTML at each send. */
  text: string | null;
  /** For at most how many days to keep the content of its emails: never more than `keepDays` of the account. */
  keepDays: number;
  /** By the language tag, in small letters. */
  locales: Record<string, LocaleItem>;
  html: string;
}

/** Versions, the newest first. */
export interface TemplateVersionPage {
  items: Array<TemplateVersionSummary>;
  /** For the parameter `cursor`; null at the end. */
  nextCursor: string | null;
}

/** A version as listed. */
export interface TemplateVersionSummary {
  version: number;
  /** Whether sends use it. */
  published: boolean;
  name: string;
  subject: string;
  category: string;
  kind: SourceKind;
  /** The address of a user, or `operator`. */
  publishedBy: string;
  publishedAt: string;
}

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
  oneClick?: boolean | null;
}

/** The request with which to upload a file, and the id that a send names. */
export interface UploadDetail {
  attachmentId: string;
  method: "PUT";
  /** Where to send the file. The URL is a secret. */
  url: string;
  /** Send exactly these. Another type, size, hash or name is refused. */
  headers: Record<string, string>;
  /** Until when the URL takes the file. */
  expiresAt: string;
  /** Until when sends may name the file. */
  usableUntil: string;
}

/** A file in words, without its bytes. */
export interface UploadRequest {
  /** As in a send. */
  filename: string;
  /** As in a send; without it, the file's extension decides. */
  contentType?: AttachmentType | null;
  /** The number of the file's bytes, at most 5 MB. */
  size: number;
  /** The SHA-256 of the file's bytes, in hex. */
  sha256: string;
}

/** Values for a template, by name. */
export type Variables = Record<string, unknown>;

/** An endpoint: an address of your application, or a bus or a bucket in your AWS account. */
export interface Webhook {
  id: string;
  url: string;
  /** The types of events that it receives: `["*"]`, or a list. */
  types: Array<string>;
  /** Whether events are sent: neither you nor the service disabled it. */
  enabled: boolean;
  /** The shape of its payloads: ours, or that of Resend or Postmark. */
  format: WebhookFormat;
  /** The role that puts the events into AWS. Null for an https URL. */
  roleArn: string | null;
  /** The trust policy, as JSON, that the role needs. The external id in it is the endpoint's id. Null for an https URL. */
  trustPolicy: string | null;
  createdAt: string;
  /** The first failure after the last success. Null if the last one succeeded. */
  failingSince: string | null;
  /** When the service disabled it. Enable it to have events sent again. */
  disabledAt: string | null;
  /** `failing`: only failures for 5 days. `gone`: it answered 410. */
  disabledReason: string | null;
}

/** One POST to the endpoint, or one try to put the event into AWS. */
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

/** The shapes that payloads have. The signature is the same for all. */
export type WebhookFormat = "pillarbox" | "resend" | "postmark";

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
export type WebhookType = "email.accepted" | "email.sent" | "email.delivered" | "email.delayed" | "email.bounced" | "email.complained" | "email.failed" | "email.received" | "suppression.added" | "domain.verified" | "domain.failed" | "account.paused" | "webhook.test";

/** An endpoint with its new secret. No other response shows the secret: save it now. */
export interface WebhookWithSecret {
  id: string;
  url: string;
  /** The types of events that it receives: `["*"]`, or a list. */
  types: Array<string>;
  /** Whether events are sent: neither you nor the service disabled it. */
  enabled: boolean;
  /** The shape of its payloads: ours, or that of Resend or Postmark. */
  format: WebhookFormat;
  /** The role that puts the events into AWS. Null for an https URL. */
  roleArn: string | null;
  /** The trust policy, as JSON, that the role needs. The external id in it is the endpoint's id. Null for an https URL. */
  trustPolicy: string | null;
  createdAt: string;
  /** The first failure after the last success. Null if the last one succeeded. */
  failingSince: string | null;
  /** When the service disabled it. Enable it to have events sent again. */
  disabledAt: string | null;
  /** `failing`: only failures for 5 days. `gone`: it answered 410. */
  disabledReason: string | null;
  /** The secret that signs the events (Standard Webhooks). Null for an endpoint in AWS, which has none. */
  secret: string | null;
}

/** What a webhook delivers. */
export type WebhookEvent = EmailEvent | ReceivedEvent | SuppressionEvent | DomainEvent | PausedEvent | TestEvent;

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
  /** List messages: `GET /api/v1/emails`. */
  listMessages(query?: { from?: string; to?: string; status?: Status; skip?: number; limit?: number; sortBy?: SortBy; recipient?: string; tag?: string; keyId?: string; template?: string; error?: string }, options?: RequestOptions): Promise<MessagePage>;
  /** Send an email: `POST /api/v1/emails`. */
  sendEmail(body: SendEmailRequest, options?: SendOptions): Promise<SendResult>;
  /** Get analytics: `GET /api/v1/emails/analytics`. */
  getAnalytics(query?: { from?: string; bucket?: Bucket; keyId?: string; template?: string; to?: string }, options?: RequestOptions): Promise<Analytics>;
  /** Send a batch: `POST /api/v1/emails/batch`. */
  sendBatch(body: SendBatchRequest, options?: SendOptions): Promise<BatchResult>;
  /** Upload an attachment: `POST /api/v1/attachments`. */
  createAttachment(body: UploadRequest, options?: RequestOptions): Promise<UploadDetail>;
  /** Get a message: `GET /api/v1/emails/{message_id}`. */
  getMessage(messageId: string, options?: RequestOptions): Promise<MessageDetail>;
  /** Reschedule a message: `PATCH /api/v1/emails/{message_id}`. */
  rescheduleMessage(messageId: string, body: RescheduleRequest, options?: RequestOptions): Promise<MessageDetail>;
  /** Cancel a message: `POST /api/v1/emails/{message_id}/cancel`. */
  cancelMessage(messageId: string, options?: RequestOptions): Promise<MessageDetail>;
  /** Release a held message: `POST /api/v1/emails/{message_id}/release`. */
  releaseMessage(messageId: string, options?: RequestOptions): Promise<MessageDetail>;
  /** Send a message again: `POST /api/v1/emails/{message_id}/resend`. */
  resendMessage(messageId: string, body?: ResendRequest, options?: SendOptions): Promise<SendResult>;
  /** Read the content of a message: `GET /api/v1/emails/{message_id}/kept`. */
  getKeptContent(messageId: string, options?: RequestOptions): Promise<MessageContent>;
  /** List received mail: `GET /api/v1/received`. */
  listReceived(query?: { limit?: number; cursor?: string; inReplyTo?: string }, options?: RequestOptions): Promise<ReceivedMailPage>;
  /** Get a received mail: `GET /api/v1/received/{received_id}`. */
  getReceived(receivedId: string, query?: { inlineImages?: boolean }, options?: RequestOptions): Promise<ReceivedDetail>;
  /** Answer a received mail: `POST /api/v1/received/{received_id}/reply`. */
  answerReceived(receivedId: string, body: AnswerRequest, options?: SendOptions): Promise<SendResult>;
  /** Get the API key of the request: `GET /api/v1/me`. */
  getMe(options?: RequestOptions): Promise<CallerDetail>;
  /** List starter templates: `GET /api/v1/starter-templates`. */
  listStarterTemplates(options?: RequestOptions): Promise<Array<StarterTemplate>>;
  /** Preview a starter template: `POST /api/v1/starter-templates/{slug}/preview`. */
  previewStarterTemplate(slug: StarterSlug, body?: RenderStarterRequest, options?: RequestOptions): Promise<StarterPreview>;
  /** List saved templates: `GET /api/v1/templates`. */
  listTemplates(query?: { skip?: number; limit?: number }, options?: RequestOptions): Promise<SavedTemplatePage>;
  /** Begin a template: `POST /api/v1/templates`. */
  createTemplate(body: CreateTemplateRequest, options?: RequestOptions): Promise<TemplateDraft>;
  /** Get a saved template: `GET /api/v1/templates/{id}`. */
  getTemplate(id: string, options?: RequestOptions): Promise<SavedTemplateDetail>;
  /** Delete a saved template: `DELETE /api/v1/templates/{id}`. */
  deleteTemplate(id: string, options?: RequestOptions): Promise<void>;
  /** List domains: `GET /api/v1/domains`. */
  listDomains(options?: RequestOptions): Promise<DomainList>;
  /** Add a domain: `POST /api/v1/domains`. */
  addDomain(body: AddDomainRequest, options?: RequestOptions): Promise<Domain>;
  /** Get a domain: `GET /api/v1/domains/{domain}`. */
  getDomain(domain: string, options?: RequestOptions): Promise<DomainDetail>;
  /** Check a failed domain again: `POST /api/v1/domains/{domain}`. */
  restartDomain(domain: string, options?: RequestOptions): Promise<DomainDetail>;
  /** Receive mail at a domain: `PATCH /api/v1/domains/{domain}`. */
  changeDomain(domain: string, body: ChangeDomainRequest, options?: RequestOptions): Promise<DomainDetail>;
  /** Remove a domain: `DELETE /api/v1/domains/{domain}`. */
  removeDomain(domain: string, options?: RequestOptions): Promise<void>;
  /** Create a link to the DNS records: `POST /api/v1/domains/{domain}/link`. */
  shareDomain(domain: string, options?: RequestOptions): Promise<DomainLinkItem>;
  /** End the link to the DNS records: `DELETE /api/v1/domains/{domain}/link`. */
  endDomainLink(domain: string, options?: RequestOptions): Promise<void>;
  /** List senders: `GET /api/v1/senders`. */
  listSenders(options?: RequestOptions): Promise<SenderList>;
  /** Add a sender: `POST /api/v1/senders`. */
  addSender(body: AddSenderRequest, options?: RequestOptions): Promise<Sender>;
  /** Set the default sender: `PUT /api/v1/senders/{sender}/default`. */
  setDefaultSender(sender: string, options?: RequestOptions): Promise<Sender>;
  /** Remove a sender: `DELETE /api/v1/senders/{sender}`. */
  removeSender(sender: string, options?: RequestOptions): Promise<void>;
  /** Preview a source: `POST /api/v1/templates/render`. */
  renderTemplate(body: RenderTemplateRequest, options?: RequestOptions): Promise<RenderedTemplate>;
  /** List drafts: `GET /api/v1/templates/drafts`. */
  listDrafts(options?: RequestOptions): Promise<TemplateDraftList>;
  /** Get a draft: `GET /api/v1/templates/{id}/draft`. */
  getDraft(id: string, options?: RequestOptions): Promise<TemplateDraft>;
  /** Save a draft: `PUT /api/v1/templates/{id}/draft`. */
  saveDraft(id: string, body: SaveDraftRequest, options?: RequestOptions): Promise<TemplateDraft>;
  /** Publish a draft: `POST /api/v1/templates/{id}/publish`. */
  publishTemplate(id: string, options?: RequestOptions): Promise<PublishedTemplate>;
  /** List versions: `GET /api/v1/templates/{id}/versions`. */
  listVersions(id: string, query?: { limit?: number; cursor?: string }, options?: RequestOptions): Promise<TemplateVersionPage>;
  /** Get a version: `GET /api/v1/templates/{id}/versions/{version}`. */
  getVersion(id: string, version: number, options?: RequestOptions): Promise<TemplateVersion>;
  /** Restore a version: `POST /api/v1/templates/{id}/restore`. */
  restoreVersion(id: string, body: RestoreVersionRequest, options?: RequestOptions): Promise<TemplateDraft>;
  /** Duplicate a template: `POST /api/v1/templates/{id}/duplicate`. */
  duplicateTemplate(id: string, options?: RequestOptions): Promise<TemplateDraft>;
  /** List API keys: `GET /api/v1/keys`. */
  listKeys(options?: RequestOptions): Promise<KeyList>;
  /** Create an API key: `POST /api/v1/keys`. */
  createKey(body: CreateKeyRequest, options?: RequestOptions): Promise<NewKey>;
  /** Revoke an API key: `DELETE /api/v1/keys/{key_id}`. */
  revokeKey(keyId: string, options?: RequestOptions): Promise<void>;
  /** List suppressions: `GET /api/v1/suppressions`. */
  listSuppressions(query?: { search?: string; limit?: number; cursor?: string }, options?: RequestOptions): Promise<SuppressionPage>;
  /** Add suppressions: `POST /api/v1/suppressions`. */
  addSuppressions(body: AddSuppressionsRequest, options?: RequestOptions): Promise<AddedSuppressions>;
  /** Remove a suppression: `DELETE /api/v1/suppressions/{address}`. */
  removeSuppression(address: string, options?: RequestOptions): Promise<void>;
  /** List members: `GET /api/v1/members`. */
  listMembers(options?: RequestOptions): Promise<MemberList>;
  /** Invite a member: `POST /api/v1/members`. */
  inviteMember(body: InviteMemberRequest, options?: RequestOptions): Promise<Member>;
  /** Change a member's role: `PATCH /api/v1/members/{member_id}`. */
  changeMember(memberId: string, body: ChangeMemberRequest, options?: RequestOptions): Promise<Member>;
  /** Remove a member: `DELETE /api/v1/members/{member_id}`. */
  removeMember(memberId: string, options?: RequestOptions): Promise<void>;
  /** Get the account: `GET /api/v1/account`. */
  getAccount(options?: RequestOptions): Promise<Account>;
  /** Change the account: `PATCH /api/v1/account`. */
  changeAccount(body: ChangeAccountRequest, options?: RequestOptions): Promise<Account>;
  /** Get the alerts: `GET /api/v1/account/alerts`. */
  getAlerts(options?: RequestOptions): Promise<AlertDetail>;
  /** Change the alerts: `PATCH /api/v1/account/alerts`. */
  changeAlerts(body: ChangeAlertsRequest, options?: RequestOptions): Promise<AlertDetail>;
  /** Get the account's log: `GET /api/v1/account/log`. */
  getAccountLog(query?: { part?: LogPart; key?: string; limit?: number; cursor?: string }, options?: RequestOptions): Promise<AccountLog>;
  /** List webhook endpoints: `GET /api/v1/webhooks`. */
  listWebhooks(options?: RequestOptions): Promise<WebhookList>;
  /** Create a webhook endpoint: `POST /api/v1/webhooks`. */
  createWebhook(body: CreateWebhookRequest, options?: RequestOptions): Promise<WebhookWithSecret>;
  /** Get a webhook endpoint: `GET /api/v1/webhooks/{endpoint_id}`. */
  getWebhook(endpointId: string, options?: RequestOptions): Promise<Webhook>;
  /** Change a webhook endpoint: `PATCH /api/v1/webhooks/{endpoint_id}`. */
  changeWebhook(endpointId: string, body: ChangeWebhookRequest, options?: RequestOptions): Promise<Webhook>;
  /** Delete a webhook endpoint: `DELETE /api/v1/webhooks/{endpoint_id}`. */
  deleteWebhook(endpointId: string, options?: RequestOptions): Promise<void>;
  /** Rotate the secret: `POST /api/v1/webhooks/{endpoint_id}/rotate`. */
  rotateWebhookSecret(endpointId: string, options?: RequestOptions): Promise<WebhookWithSecret>;
  /** Test a webhook endpoint: `POST /api/v1/webhooks/{endpoint_id}/test`. */
  testWebhook(endpointId: string, options?: RequestOptions): Promise<QueuedWebhookEvent>;
  /** List deliveries: `GET /api/v1/webhooks/{endpoint_id}/deliveries`. */
  listWebhookDeliveries(endpointId: string, query?: { limit?: number; cursor?: string }, options?: RequestOptions): Promise<WebhookDeliveryPage>;
  /** Replay a delivery: `POST /api/v1/webhooks/{endpoint_id}/deliveries/{delivery_id}/replay`. */
  replayWebhookDelivery(endpointId: string, deliveryId: string, options?: RequestOptions): Promise<QueuedWebhookEvent>;
  /** Replay a time range: `POST /api/v1/webhooks/{endpoint_id}/replay`. */
  replayWebhookEvents(endpointId: string, body: ReplayWebhookRequest, options?: RequestOptions): Promise<WebhookReplay>;
}
