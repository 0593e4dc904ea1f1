// Stacked bars, drawn as SVG, with the same figures as a table.

import { useState } from "preact/hooks";

import { count, roundUp } from "../format";
import { useGo } from "../windows";

export interface Bar {
  /** The name of the bar in the table and in the box next to the pointer. */
  label: string;
  /** The text below the axis; empty for most bars. */
  tick: string;
  parts: number[];
  /** The page with what the bar counts, and with what each part does, if there is one. */
  href: string;
  hrefs: (string | undefined)[];
}

interface Properties {
  summary: string;
  /** The name and the CSS class of each part, from the bottom up; `bad` ones are too few to see among all. */
  series: { name: string; kind: string; bad?: boolean }[];
  bars: Bar[];
}

const HEIGHT = 190;
const STRIP = 34; // the bad parts alone, on a scale of their own
const TOP = 12;
const FOOT = 24;
const GAP = 0.22; // of the width of a bar

export function Bars({ summary, series, bars }: Properties) {
  const [shown, setShown] = useState<number>();
  const go = useGo();
  const totals = bars.map((bar) => bar.parts.reduce((sum, part) => sum + part, 0));
  const most = roundUp(Math.max(1, ...totals));
  const unit = (HEIGHT - TOP - FOOT) / most;
  const width = 100 / bars.length;
  const lines = [0, 0.5, 1].map((part) => part * most).filter(Number.isInteger);
  const bar = shown === undefined ? undefined : bars[shown];
  const bad = series.flatMap((one, which) => (one.bad ? [which] : []));
  const worst = Math.max(...bars.map(({ parts }) => bad.reduce((sum, which) => sum + (parts[which] ?? 0), 0)));
  const stack = ({ parts, hrefs }: Bar, of: number[], left: number, bottom: number, unit: number) => {
    let y = bottom;
    return of.map((which) => {
      const height = (parts[which] ?? 0) * unit;
      const kind = series[which]?.kind;
      y -= height;
      return height > 0 ? <rect key={kind} class={`fill-${kind}`} x={`${left}%`} y={y} width={`${width * (1 - GAP)}%`} height={height} onClick={() => go(hrefs[which] ?? "")} /> : null;
    });
  };
  return (
    <figure class="bars">
      <div class="plot">
        <svg height={worst > 0 ? HEIGHT + STRIP + 1 : HEIGHT} width="100%" role="img" aria-label={summary} onPointerLeave={() => setShown(undefined)}>
          {worst > 0 && (
            <>
              <line class="grid" x1="0" x2="100%" y1={HEIGHT + STRIP} y2={HEIGHT + STRIP} />
              <text class="axis" x="-8" y={HEIGHT + 9} text-anchor="end">
                {count(worst)}
              </text>
            </>
          )}
          {lines.map((value) => (
            <g key={value}>
              <line class="grid" x1="0" x2="100%" y1={HEIGHT - FOOT - value * unit} y2={HEIGHT - FOOT - value * unit} />
              {value > 0 && (
                <text class="axis" x="-8" y={HEIGHT - FOOT - value * unit + 4} text-anchor="end">
                  {count(value)}
                </text>
              )}
            </g>
          ))}
          {bars.map((bar, index) => {
            const left = width * (index + GAP / 2);
            return (
              <g key={bar.label} class={index === shown ? "shown" : undefined} onPointerEnter={() => setShown(index)}>
                {stack(bar, [...series.keys()], left, HEIGHT - FOOT, unit)}
                {bar.tick && (
                  <text class="axis" x={`${width * (index + 0.5)}%`} y={HEIGHT - 6} text-anchor="middle">
                    {bar.tick}
                  </text>
                )}
                <rect
                  class="hit"
                  x={`${width * index}%`}
                  y="0"
                  width={`${width}%`}
                  height={worst > 0 ? HEIGHT + STRIP : HEIGHT - FOOT}
                  onClick={() => go(bar.href)}
                />
                {worst > 0 && stack(bar, bad, left, HEIGHT + STRIP, STRIP / worst)}
              </g>
            );
          })}
        </svg>
        {bar && shown !== undefined && (
          <div class={`tip ${shown < bars.length / 2 ? "right" : "left"}`} style={{ "--at": `${width * (shown + 0.5)}%` }} aria-hidden="true">
            <b>{bar.label}</b>
            {series.map(
              ({ name, kind }, which) =>
                (bar.parts[which] ?? 0) > 0 && (
                  <span key={kind}>
                    <i class={`dot fill-${kind}`} /> {name} <b>{count(bar.parts[which] ?? 0)}</b>
                  </span>
                ),
            )}
            {totals[shown] === 0 && <span>No emails</span>}
          </div>
        )}
      </div>
      {worst > 0 && <p class="hint">Lower row, on a scale of its own: {bad.map((which) => series[which]?.name.toLowerCase()).join(", ")}.</p>}
      <figcaption>
        {series.map(({ name, kind }) => (
          <span key={kind}>
            <i class={`dot fill-${kind}`} /> {name}
          </span>
        ))}
      </figcaption>
      <details>
        <summary>The figures as a table</summary>
        <div class="scroll" tabIndex={0} role="region" aria-label="The figures as a table">
          <table>
            <thead>
              <tr>
                <th scope="col">Time</th>
                {series.map(({ name }) => (
                  <th scope="col" class="number" key={name}>
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {bars.map((bar) => (
                <tr key={bar.label}>
                  <th scope="row">
                    <a href={bar.href}>{bar.label}</a>
                  </th>
                  {bar.parts.map((part, which) => (
                    <td class="number" key={series[which]?.kind}>
                      {part && bar.hrefs[which] ? <a href={bar.hrefs[which]}>{count(part)}</a> : count(part)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  );
}
