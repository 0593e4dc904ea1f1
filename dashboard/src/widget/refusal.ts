// What the widget says when the service or the widget itself refuses what a visitor typed.

import { ApiError } from "../http";

/** What a visitor typed is wrong. */
export class WrongInput extends Error {}

export function isAboutInput(error: unknown): boolean {
  if (!(error instanceof ApiError)) return error instanceof WrongInput;
  const fields = error.details["errors"];
  return error.code === "invalid_code" || (Array.isArray(fields) && fields.some(({ field }) => field === "email"));
}

export function explain(error: unknown): string {
  if (!(error instanceof ApiError)) return (error as Error).message;
  const fields = error.details["errors"];
  if (!Array.isArray(fields)) return error.message;
  const wrong = fields.find(({ field }) => field === "email");
  if (wrong) return `This address ${wrong.message}.`.replace(/\.+$/, ".");
  if (fields.some(({ field }) => String(field).startsWith("proof"))) return "That took too long. Try again.";
  return error.message;
}
