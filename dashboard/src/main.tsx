import "./styles/base.css";
import "./styles/parts.css";
import "./styles/shell.css";
import "./styles/pages.css";

import { render } from "preact";
import { LocationProvider } from "preact-iso/router";

import { App } from "./app";

const root = document.getElementById("app");
if (root) {
  render(
    <LocationProvider scope="/app">
      <App />
    </LocationProvider>,
    root,
  );
}
