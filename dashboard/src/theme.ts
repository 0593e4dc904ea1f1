// Light, dark, or what the system says; the choice stays in this browser.

import { effect, signal } from "@preact/signals";

import { keep, recall } from "./kept";

export type Theme = "system" | "light" | "dark";
export const THEMES: Theme[] = ["system", "light", "dark"];
const NAME = "pillarbox.theme";

export const theme = signal<Theme>(THEMES.find((known) => known === recall(NAME)) ?? "system");

effect(() => {
  keep(NAME, theme.value);
  document.documentElement.dataset.theme = theme.value;
});
