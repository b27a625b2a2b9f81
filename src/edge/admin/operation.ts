import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Answer } from '../http/route.ts';
import type { AdminServices } from './services.ts';

/** Answers the text of `/metrics` in the format of Prometheus. */
export async function readMetrics({
  metrics,
  metricsText,
}: Pick<AdminServices, 'metrics' | 'metricsText'>): Promise<Answer> {
  return { status: 200, headers: { 'Content-Type': metrics.registry.contentType }, body: await metricsText() };
}

/** The answer of `/healthz`: 200 as long as the process can answer at all. */
export function readHealth(): Answer {
  return { status: 200, body: { status: 'ok' } };
}

/**
 * The answer of `/readyz`: 200 when a load balancer should send requests to this process, else 503 with the problems.
 * `notes` are what a person must look at meanwhile, among them the conditions of this node.
 */
export async function readReadiness({ readiness, signs }: Pick<AdminServices, 'readiness' | 'signs'>): Promise<Answer> {
  const problems = await readiness.problems();
  const wrong = signs().filter(({ level }) => level !== 'info');
  const notes = [...readiness.notes(), ...wrong.map(({ kind, text }) => ({ part: kind, reason: text }))];
  if (problems.length === 0) return { status: 200, body: { status: 'ok', ...(notes.length > 0 && { notes }) } };
  return { status: 503, body: { status: 'unavailable', problems }, error: new DomainError('NOT_READY') };
}
