// Line icons of 16 × 16, drawn for this application.

const PATHS = {
  overview: "M2.500 13.500V9M6.200 13.500V5.500M9.800 13.500V8M13.500 13.500V2.500",
  activity: "M2 3.500h12v9H2zM2.300 4l5.700 4.700L13.700 4",
  domains: "M8 2a6 6 0 1 1 0 12A6 6 0 1 1 8 2M2.300 8h11.400M8 2c2.200 1.800 2.800 3.800 2.800 6S10.200 12.200 8 14C5.800 12.200 5.200 10.200 5.200 8S5.800 3.800 8 2",
  webhooks: "M6 10.500 8.300 6.400M8 2.500a2.200 2.200 0 1 1 .1 0M4 9.300a2.200 2.200 0 1 0 2.200 2.200H11M12 9.300a2.200 2.200 0 1 1-2 3",
  search: "M7 2.500a4.500 4.500 0 1 1 0 9 4.500 4.500 0 0 1 0-9M10.400 10.400 14 14",
  close: "M4 4l8 8M12 4l-8 8",
  menu: "M2 4h12M2 8h12M2 12h12",
  down: "M4.500 6.500 8 10l3.500-3.500",
  copy: "M5.500 5.500h8v8h-8zM10.500 5.500v-3h-8v8h3",
  check: "M3 8.500 6.500 12 13 4.500",
  warning: "M8 2.200 14.500 13.500h-13zM8 6.500v3.200M8 11.600v.2",
  left: "M9.500 4 5.500 8l4 4",
  right: "M6.500 4l4 4-4 4",
  plus: "M8 3v10M3 8h10",
};

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
