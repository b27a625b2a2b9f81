import { createHash } from 'node:crypto';
import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import { createCounts } from '../../runtime/counts.ts';
import type { Ids } from '../../runtime/ids.ts';
import type { Log } from '../../runtime/log.ts';
import { behindBearer } from '../http/bearer.ts';
import { CallerLeft } from '../http/inside.ts';
import type { Answer, Input } from '../http/route.ts';
import { data, plainName } from './foreign.ts';
import { createOnce } from './once.ts';
import { checkOrigin } from './origin.ts';
import { createProtocol } from './protocol.ts';
import { createReport } from './report.ts';
import { createAsk, type Session, Unanswered } from './session.ts';
import type { Property, Tool } from './tool.ts';

/** The most calls of tools of one caller that run at a time. */
const AT_A_TIME = 4;

interface Parts {
  clock: Pick<Clock, 'now'>;
  ids: Ids;
  log: Log;
  metrics: Pick<Metrics, 'httpRefused' | 'assistantCalls'>;
  tools: readonly Tool[];
  /** The text that an assistant gets before its first call. */
  instructions: string;
  /** Members of the arguments of every tool. */
  common?: Readonly<Record<string, Property>>;
  /** Other names of operations, where tools of two listeners are the same. */
  same?: Readonly<Record<string, string>>;
  /** The time zone of local date-times of the REST API. */
  timeZone: string;
  /** The address of the console. */
  consoleUrl(): string;
}

/** The caller of a request, as its listener knows it. */
export interface McpCaller {
  /** The name of the caller for the bounds: that of the application, or of the person. */
  source: string;
  applicationId?: string;
  may(right: string): boolean;
}

export type Mcp = ReturnType<typeof createMcp>;

interface Asked {
  input: Input;
  caller: McpCaller;
}

/** The members of the arguments, which McpServer has checked by their schema. */
type Given = Record<string, unknown> & { applicationId?: string };

/**
 * The Model Context Protocol for assistants, stateless: each request is answered by a server of its own, and nothing is kept
 * between two of them. Tools call the operations of the listener in the name of the caller, so they can do nothing that the
 * caller's token could not do, and count in its bounds.
 */
export function createMcp(parts: Parts) {
  const { clock, ids, log, metrics, tools, instructions, common = {}, consoleUrl, timeZone, same = {} } = parts;
  const calls = createCounts();
  const once = createOnce();
  const answer = createProtocol({ log, tools, instructions, common });

  function sessionOf({ input, caller }: Asked, given: Given, client: string | undefined): Session {
    const applicationId = 'applicationId' in common ? (given.applicationId ?? caller.applicationId) : undefined;
    const token = behindBearer(input.headers.authorization) ?? '';
    return {
      ...createAsk({ inside: input.inside!, applicationId, timeZone, same }),
      applicationId,
      may: caller.may,
      link: (...path) => [consoleUrl(), ...path.map((part) => encodeURIComponent(String(part)))].join('/'),
      tokenKey: createHash('sha256').update(`proposals of assistants\n${token}`).digest(),
      once: (key, act) => once(`${caller.source} ${key}`, act),
      assistant: plainName(client),
      now: clock.now,
      nonce: () => ids.bytes(9).toString('base64url'),
    };
  }

  async function run(tool: Tool, asked: Asked, given: Given, client: string | undefined) {
    const report = createReport();
    let outcome: 'answered' | 'unanswered' | 'failed' | 'left' = 'answered';
    try {
      checkNames(tool, given, common);
      const session = sessionOf(asked, given, client);
      const { applicationId: _, ...others } = given;
      const own = 'applicationId' in common ? others : given; // else it is an argument of the tool itself
      if (tool.writes !== undefined && !session.may(tool.writes)) {
        throw new Unanswered(`Refused: ${tool.name} changes something, and the token lacks the right ${tool.writes}.`);
      }
      await tool.run(session, own as never, report);
      return { content: [{ type: 'text' as const, text: report.text() }] };
    } catch (error) {
      outcome = error instanceof Unanswered ? 'unanswered' : error instanceof CallerLeft ? 'left' : 'failed';
      if (outcome === 'failed') log.error({ err: error, tool: tool.name }, 'a tool of an assistant failed');
      const text =
        error instanceof Unanswered
          ? error.message
          : `${tool.name} failed. The log of the service has the reason, with the request id ${asked.input.requestId}.`;
      return { content: [{ type: 'text' as const, text }], isError: true };
    } finally {
      metrics.assistantCalls.inc({ tool: tool.name, outcome });
    }
  }

  return {
    /** Answers a request of an assistant. */
    async serve(input: Input, caller: McpCaller): Promise<Answer> {
      checkOrigin(input);
      if (calls.add(caller.source, 1) > AT_A_TIME) {
        calls.add(caller.source, -1);
        metrics.httpRefused.inc({ bound: 'assistant_calls' });
        throw new DomainError('RATE_LIMITED', { values: { seconds: 1 } });
      }
      try {
        const asked = { input, caller };
        return await answer(input, (tool, given, client) =>
          run(tool, asked, given, client ?? input.headers['user-agent']),
        );
      } finally {
        calls.add(caller.source, -1);
      }
    },
  };
}

/** Throws Unanswered for an argument that the tool does not have: a filter that is mistyped must not be left out. */
function checkNames({ name, properties }: Tool, given: Given, common: object): void {
  const unknown = Object.keys(given).filter((one) => !Object.hasOwn(properties, one) && !Object.hasOwn(common, one));
  if (unknown.length === 0) return;
  const names = unknown.slice(0, 5).map((one) => data(one, 40));
  throw new Unanswered(`${name} has no argument ${names.join(', ')}. It has: ${Object.keys(properties).join(', ')}.`);
}
