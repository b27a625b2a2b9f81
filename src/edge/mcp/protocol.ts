import { ownVersion } from '@lapel/schemas/base/version';
import { DomainError } from '@lapel/schemas/contracts/errors';
import type { CallToolResult, McpHttpHandler } from '@modelcontextprotocol/server';
import { loadLate } from '../../runtime/late-load.ts';
import type { Log } from '../../runtime/log.ts';
import type { Answer, Input } from '../http/route.ts';
import { CODE_OF_STATUS } from './answers.ts';
import type { Property, Tool } from './tool.ts';

const RELEASE = ownVersion();

interface Parts {
  log: Pick<Log, 'debug'>;
  tools: readonly Tool[];
  instructions: string;
  /** Members of the arguments of every tool. */
  common: Readonly<Record<string, Property>>;
}

/** Runs a tool, for the assistant that calls itself `client`. */
type Run = (tool: Tool, given: Record<string, unknown>, client: string | undefined) => Promise<CallToolResult>;

/**
 * Makes the function that answers a message of the protocol: each one is answered by a server of its own, with the library
 * of the protocol's own project. The library is loaded at the first message, because that takes a third of a second, and
 * many services never have one.
 */
export function createProtocol({ log, tools, instructions, common }: Parts) {
  let made: McpHttpHandler | undefined;

  function make(): McpHttpHandler {
    const { createMcpHandler, fromJsonSchema, McpServer } = loadLate(
      '@modelcontextprotocol/server',
    ) as typeof import('@modelcontextprotocol/server');
    const registered = tools.map((tool) => ({
      tool,
      config: {
        title: tool.title,
        description: tool.description,
        inputSchema: fromJsonSchema<Record<string, unknown>>({
          type: 'object',
          properties: { ...tool.properties, ...common },
          ...(tool.required && { required: [...tool.required] }),
        }),
        annotations: {
          readOnlyHint: tool.writes === undefined,
          destructiveHint: tool.writes !== undefined,
          idempotentHint: true,
          openWorldHint: false,
        },
      },
    }));
    return createMcpHandler(
      ({ authInfo }) => {
        const run = authInfo?.extra?.['run'] as Run;
        const server = new McpServer({ name: 'lapel', title: 'Lapel', version: RELEASE }, { instructions });
        for (const { tool, config } of registered) {
          server.registerTool(tool.name, config, (given) => run(tool, given, server.server.getClientVersion()?.name));
        }
        return server;
      },
      {
        maxSubscriptions: 0, // the tools never change, so there is nothing to listen for
        onerror: (error) => log.debug({ err: error }, 'a request of an assistant was refused'),
      },
    );
  }

  return async (input: Input, run: Run): Promise<Answer> => {
    made ??= make();
    const response = await made.fetch(requestOf(input), {
      parsedBody: input.body,
      authInfo: { token: '', clientId: '', scopes: [], extra: { run } },
    });
    const type = response.headers.get('content-type');
    const body = await response.text();
    const code = CODE_OF_STATUS[response.status];
    return {
      status: response.status,
      ...(type !== null && { headers: { 'Content-Type': type }, body }),
      ...(code !== undefined && { error: new DomainError(code) }),
    };
  };
}

function requestOf({ headers, baseUrl, target }: Input): Request {
  const given = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string' && !name.startsWith(':')) given.set(name, value);
  }
  // The body was read as JSON, by the rules of this service, and the answer has the form that fits.
  given.set('content-type', 'application/json');
  given.set('accept', 'application/json, text/event-stream');
  return new Request(new URL(target.path, baseUrl), { method: 'POST', headers: given });
}
