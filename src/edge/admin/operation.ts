import { DomainError } from '../../errors.ts';
import type { Answer } from '../http/route.ts';
import type { AdminServices } from './services.ts';

/** Answers the metrics for Prometheus. */
export async function readMetrics({ metrics, metricsText }: AdminServices): Promise<Answer> {
  return { status: 200, headers: { 'Content-Type': metrics.registry.contentType }, body: await metricsText() };
}

/** Answers that the process is alive. */
export function readHealth(): Answer {
  return { status: 200, body: { status: 'ok' } };
}

/** Answers whether the process should get requests. */
export async function readReadiness({ readiness }: AdminServices): Promise<Answer> {
  const problems = await readiness.problems();
  if (problems.length === 0) return { status: 200, body: { status: 'ok' } };
  return { status: 503, body: { status: 'unavailable', problems }, error: new DomainError('NOT_READY') };
}
