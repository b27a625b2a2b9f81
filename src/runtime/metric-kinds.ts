import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

// The buckets of most histograms in seconds, from the fastest answer over loopback to the longest webhook timeout.
export const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15];
// The buckets of the steps of commands in seconds: a step takes milliseconds, or days while a device is offline.
export const STEP_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 1800, 7200, 86_400];

/** Makes the metrics of a registry. Their names get the prefix `lapel_`. */
export function createMetricKinds(registry: Registry) {
  const registers = [registry];
  return {
    counter: <Label extends string>(name: string, help: string, labelNames: Label[] = []) =>
      new Counter<Label>({ name: `lapel_${name}`, help, labelNames, registers }),
    gauge: (name: string, help: string) => new Gauge({ name: `lapel_${name}`, help, registers }),
    /** A gauge with labels. */
    labelled: <Label extends string>(name: string, help: string, labelNames: Label[]) =>
      new Gauge<Label>({ name: `lapel_${name}`, help, labelNames, registers }),
    histogram: <Label extends string>(name: string, help: string, labelNames: Label[] = [], buckets = SECONDS) =>
      new Histogram<Label>({ name: `lapel_${name}`, help, labelNames, buckets, registers }),
  };
}
