// Stacked bars, drawn as SVG, with the same figures as a table.

import { useState } from "preact/hooks";

import { count } from "../format";

export interface Bar {
  /** The name of the bar in the table and in the box next to the pointer. */
  label: string;
  /** The text below the axis; empty for most bars. */
  tick: string;
  parts: number[];
}

interface Properties {
  summary: string;
  /** The name and the CSS class of each part, from the bottom up. */
  series: { name: string; kind: string }[];
  bars: Bar[];
}

const HEIGHT = 190;
const TOP = 12;
const FOOT = 24;
const GAP = 0.22; // of the width of a bar

export function Bars({ summary, series, bars }: Properties) {
  const [shown, setShown] = useState<number>();
  const totals = bars.map((bar) => bar.parts.reduce((sum, part) => sum + part, 0));
  const most = roundUp(Math.max(1, ...totals));
  const unit = (HEIGHT - TOP - FOOT) / most;
  const width = 100 / bars.length;
  const lines = [0, 0.5, 1].map((part) => part * most).filter(Number.isInteger);
  const bar = shown === undefined ? undefined : bars[shown];
  return (
    <figure class="bars">
      <div class="plot">
        <svg height={HEIGHT} width="100%" role="img" aria-label={summary} onPointerLeave={() => setShown(undefined)}>
          {lines.map((value) => (
            <g key={value}>
              <line class="grid" x1="0" x2="100%" y1={HEIGHT - FOOT - value * unit} y2={HEIGHT - FOOT - value * unit} />
              {value > 0 && (
                <text class="axis" x="0" y={HEIGHT - FOOT - value * unit - 4}>
                  {count(value)}
                </text>
              )}
            </g>
          ))}
          {bars.map((bar, index) => {
            let y = HEIGHT - FOOT;
            const left = width * (index + GAP / 2);
            return (
              <g key={bar.label} class={index === shown ? "shown" : undefined}>
                {bar.parts.map((part, which) => {
                  y -= part * unit;
                  const kind = series[which]?.kind;
                  return part > 0 ? (
                    <rect key={kind} class={`fill-${kind}`} x={`${left}%`} y={y} width={`${width * (1 - GAP)}%`} height={part * unit} />
                  ) : null;
                })}
                {bar.tick && (
                  <text class="axis" x={`${width * (index + 0.5)}%`} y={HEIGHT - 6} text-anchor="middle">
                    {bar.tick}
                  </text>
                )}
                <rect class="hit" x={`${width * index}%`} y="0" width={`${width}%`} height={HEIGHT - FOOT} onPointerEnter={() => setShown(index)} />
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
                  <th scope="row">{bar.label}</th>
                  {bar.parts.map((part, which) => (
                    <td class="number" key={series[which]?.kind}>
                      {count(part)}
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

/** Return the next number that is easy to read. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 4, 5, 6, 8, 10].map((step) => step * power).find((step) => step >= value) ?? value;
}
