import type { DomainError } from '@lapel/schemas/contracts/errors';
import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { createLogLimit } from '../../runtime/log-limit.ts';
import { traceField } from '../../runtime/tracing.ts';

export interface Done {
  requestId: string;
  method: string;
  /** The path of the route with its `{parameters}`, as in the route table. */
  route: string;
  status: number;
  startedAt: number;
  error: DomainError | undefined;
  applicationId: string | undefined;
  /** The caller of a refused request: its application, or its address. */
  source: string | undefined;
  /** The span of the request; null when it is not traced. */
  traceparent: string | null;
}

interface Parts {
  name: string;
  clock: Clock;
  log: Log;
  metrics: Pick<Metrics, 'httpRequests' | 'httpSeconds'>;
}

/**
 * Makes the function that records each request in metrics and in the log. Refused requests are logged at `info`, at
 * most once a minute for each caller, route and error; `leftOut` counts the requests that were not logged since then.
 */
export function createReport({ name, clock, log, metrics }: Parts) {
  const mayLog = createLogLimit({ clock });

  return ({ requestId, method, route, status, startedAt, error, applicationId, source, traceparent }: Done): void => {
    const seconds = (clock.now() - startedAt) / 1_000_000;
    metrics.httpRequests.inc({ listener: name, method, route, status });
    metrics.httpSeconds.observe({ listener: name, route }, seconds);
    const trace = traceField(traceparent);
    if (error === undefined) {
      log.debug({ listener: name, requestId, ...trace, method, route, status, seconds }, 'request');
      return;
    }
    const who = applicationId === undefined ? { address: source } : { applicationId };
    const line = { listener: name, requestId, ...trace, method, route, status, code: error.code, ...who, seconds };
    if (error.code === 'INTERNAL') {
      log.error({ ...line, err: error.cause ?? error }, 'request failed');
      return;
    }
    const leftOut = mayLog(`${source} ${error.code} ${method} ${route}`, source);
    if (leftOut === undefined) log.debug(line, 'request refused');
    else
      log.info({ ...line, ...(leftOut > 0 && { leftOut }), ...(status >= 500 && { err: error }) }, 'request refused');
  };
}
