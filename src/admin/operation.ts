import type { Answer } from '../http/route.ts';
import type { AdminServices } from './services.ts';

/** What Prometheus collects. */
export async function readMetrics({ metrics }: AdminServices): Promise<Answer> {
  const { registry } = metrics;
  return { status: 200, headers: { 'Content-Type': registry.contentType }, body: await registry.metrics() };
}

/** The process is alive: it answers. */
export function readHealth(): Answer {
  return { status: 200, body: { status: 'ok' } };
}

/** Whether to send requests here. */
export async function readReadiness({ ready }: AdminServices): Promise<Answer> {
  return (await ready())
    ? { status: 200, body: { status: 'ok' } }
    : { status: 503, headers: { 'Retry-After': '1' }, body: { status: 'unavailable' } };
}
