import { path, svg, type VNode } from '../base/elements.ts';

const DRAWN = {
  overview: 'M3 13h4V3H3v10Zm0 4h4v-2H3v2Zm6 0h8v-6H9v6ZM9 3v6h8V3H9Z',
  devices:
    'M6 2h8a1 1 0 0 1 1 1v14a1 1 0 0 1-1 1H6a1 1 0 0 1-1-1V3a1 1 0 0 1 1-1Zm4 4a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5Zm-2 8h4',
  transactions: 'M3 6h11m0 0-3-3m3 3-3 3M17 14H6m0 0 3-3m-3 3 3 3',
  rollouts: 'M3 17v-4h4V9h4V5h6M13 2l4 3-4 3',
  webhooks:
    'M10 3a3 3 0 0 1 2.6 4.5L15 12m-7.4-4.5A3 3 0 0 1 10 3m-2.4 4.5L5 12m0 0a3 3 0 1 0 3 3h6m1-3a3 3 0 1 1-2.8 2',
  endpoints: 'M3 10h6m0 0 5-5m-5 5 5 5m-5-5h5M17 4v2m0 3v2m0 3v2',
  events: 'M4 5h0m4 0h8M4 10h0m4 0h8M4 15h0m4 0h5',
  software: 'm10 2 7 4v8l-7 4-7-4V6l7-4Zm0 8 7-4m-7 4v8m0-8L3 6',
  developers: 'M7 9a3 3 0 1 0 0-6 3 3 0 0 0 0 6Zm-5 8c0-3 2-5 5-5s5 2 5 5m1-8a3 3 0 0 0 0-6m5 14c0-2.5-1.2-4.2-3-4.8',
  people: 'M10 10a4 4 0 1 0 0-8 4 4 0 0 0 0 8Zm-7 8c0-4 3-6 7-6s7 2 7 6',
  audit: 'M5 2h7l4 4v12H5V2Zm7 0v4h4M8 10h5m-5 3h5',
  health: 'M2 10h4l2-5 4 10 2-5h4',
  settings: 'M4 6h8m4 0h0M4 10h2m4 0h6M4 14h6m4 0h2M13 4v4M8 8v4M12 12v4',
  search: 'M9 15A6 6 0 1 0 9 3a6 6 0 0 0 0 12Zm4.5-1.5L18 18',
  menu: 'M3 5h14M3 10h14M3 15h14',
} as const;
export type IconName = keyof typeof DRAWN;

/** A small icon beside a text; it is hidden from screen readers, because the text says the same. */
export const icon = (name: IconName): VNode =>
  svg(
    { class: 'icon', width: 18, height: 18, viewBox: '0 0 20 20', 'aria-hidden': 'true' },
    path({
      d: DRAWN[name],
      fill: 'none',
      stroke: 'currentColor',
      'stroke-width': 1.5,
      'stroke-linecap': 'round',
      'stroke-linejoin': 'round',
    }),
  );

export const mark = (): VNode =>
  svg(
    { width: 26, height: 26, viewBox: '0 0 16 16', 'aria-hidden': 'true' },
    path({ d: 'M4 0h8a4 4 0 0 1 4 4v8a4 4 0 0 1-4 4H4a4 4 0 0 1-4-4V4a4 4 0 0 1 4-4Z', fill: '#0b6e75' }),
    path({ d: 'M5 4v8h6', fill: 'none', stroke: '#fff', 'stroke-width': 2 }),
  );
