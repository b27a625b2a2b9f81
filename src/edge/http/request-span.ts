import type { Context } from 'koa';
import type { Span, Tracing } from '../../runtime/tracing.ts';
import type { Done } from './report.ts';

/** Probes and scrapes of metrics come every few seconds. */
const UNTRACED: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);

interface Asked {
  context: Context;
  target: { path: string };
  requestId: string;
  /** The name of the listener. */
  listener: string;
}

/** Begins the span of a request; undefined when it is not traced. */
export function beginRequest(tracing: Tracing, { context, target, requestId, listener }: Asked): Span | undefined {
  if (UNTRACED.has(target.path)) return undefined;
  const { traceparent } = context.req.headers;
  return tracing.request(context.method, typeof traceparent === 'string' ? traceparent : undefined, {
    kind: 'server',
    attributes: {
      'http.request.method': context.method,
      'url.path': target.path,
      'lapel.listener': listener,
      'lapel.request_id': requestId,
    },
  });
}

/** Ends the span of a request, with the values that are known only now. */
export function endRequest(span: Span, { method, route, status, error, applicationId }: Done): void {
  span.end({
    name: `${method} ${route}`,
    attributes: {
      'http.route': route,
      'http.response.status_code': status,
      ...(applicationId !== undefined && { 'lapel.application_id': applicationId }),
      ...(error && { 'error.type': error.code }),
    },
    ...(status >= 500 && { error: error?.message ?? `answered ${status}` }),
  });
}
