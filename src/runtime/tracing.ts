import { AsyncLocalStorage } from 'node:async_hooks';
import type { Micros } from './units.ts';

export type Attributes = Record<string, string | number>;

/** The sides of a call, or of a message, that a span can be on. */
export type SpanKind = 'internal' | 'server' | 'client' | 'producer' | 'consumer';

/** What is known when a span begins. */
export interface Beginning {
  kind: SpanKind;
  /** The time of the beginning; by default now. */
  startedAt?: Micros;
  attributes?: Attributes;
}

/** What is known only when a span ends. */
export interface Ending {
  /** A better name than at the beginning. */
  name?: string;
  attributes?: Attributes;
  /** The reason why the work failed. */
  error?: string;
}

/** A piece of work in a trace. It is exported when it ends; one that never ends, such as that of a unit of work which was rolled back, is not. */
export interface Span {
  /** Names the span to the spans below it, also in other processes: the header `traceparent` (W3C Trace Context 3.2). */
  readonly traceparent: string;
  end(ending?: Ending): void;
}

export interface Tracing {
  /** Begins the span of a request. Its parent is the span that the caller names in `traceparent`, if that is valid. */
  request(name: string, traceparent: string | undefined, beginning: Beginning): Span | undefined;
  /** Begins a span below another one; undefined when there is no parent, or nothing is traced. */
  below(parent: string | null, name: string, beginning: Beginning): Span | undefined;
  /** Resolves when all spans that have ended are exported, or given up. */
  idle(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const current = new AsyncLocalStorage<Span>();

/** Runs the work of a request in its span. */
export const inSpan = <Result>(span: Span, work: () => Result): Result => current.run(span, work);

/**
 * The `traceparent` of the request that the running code works on; null when it is not traced. Only code that a handler
 * calls itself may ask: commits, effects and whatever a request has set in motion run in the context of any request.
 */
export const currentTrace = (): string | null => current.getStore()?.traceparent ?? null;

/** The field of a log line about something that is traced. */
export const traceField = (traceparent: string | null): { trace_id?: string } =>
  traceparent === null ? {} : { trace_id: readTraceparent(traceparent)?.traceId ?? '' };

const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:$|-)/;

/**
 * Reads a `traceparent` (W3C Trace Context 3.2.2). A later version may have more at its end, which is ignored; version
 * `ff` and ids of zeros are invalid.
 */
export function readTraceparent(text: string): { traceId: string; spanId: string; traceFlags: number } | undefined {
  const [, traceId = '', spanId = '', flags = ''] = TRACEPARENT.exec(text) ?? [];
  if (!/[1-9a-f]/.test(traceId) || !/[1-9a-f]/.test(spanId) || text.startsWith('ff')) return undefined;
  if (text.startsWith('00') && text.length !== 55) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) };
}

/** Traces nothing, at no cost. */
export const NO_TRACING: Tracing = {
  request: () => undefined,
  below: () => undefined,
  idle: () => Promise.resolve(),
  [Symbol.asyncDispose]: () => Promise.resolve(),
};
