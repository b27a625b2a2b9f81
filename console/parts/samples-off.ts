import { code, p, type VNode } from '../base/elements.ts';

/** Says how samples are turned on. */
export const samplesOff = (): VNode =>
  p(
    { class: 'pad quiet' },
    'The service does not keep what devices report over time. Start it with ',
    code(null, 'LAPEL_SAMPLE_RETENTION_DAYS=90'),
    ' to see three months of battery, signal, free storage and versions.',
  );
