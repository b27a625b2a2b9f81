/** The npm packages that the pages import, each with the file that browsers get for it. */
export const PACKAGED = [
  { name: 'preact', file: 'preact.mjs', from: 'preact' },
  { name: 'preact/hooks', file: 'preact-hooks.mjs', from: 'preact/hooks' },
  { name: '@preact/signals-core', file: 'signals-core.mjs', from: '@preact/signals-core' },
  { name: '@preact/signals', file: 'signals.mjs', from: '@preact/signals' },
  { name: 'uplot', file: 'uplot.mjs', from: 'uplot/dist/uPlot.esm.js' },
  { name: null, file: 'uplot.css', from: 'uplot/dist/uPlot.min.css' },
] as const;

/** The folder that these packages are served in, beside the console's own files. */
export const PACKAGES = 'packages';
