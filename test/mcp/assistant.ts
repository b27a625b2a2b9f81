import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Test } from 'tap';

interface Options {
  url: string;
  token: string;
  name?: string;
  /** The revision of 2025, with its handshake; by default that of 2026, without a state. */
  legacy?: boolean;
}

export interface Said {
  text: string;
  isError: boolean;
}

/** Connects the client of the protocol's own project, as the program of an assistant has it. */
export async function openAssistant(t: Test, { url, token, name = 'Test assistant', legacy = false }: Options) {
  const client = new Client(
    { name, version: '1.0.0' },
    { versionNegotiation: { mode: legacy ? 'legacy' : { pin: '2026-07-28' } } },
  );
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', url), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  });
  await client.connect(transport);
  t.teardown(() => client.close());
  return {
    client,
    tools: async () => (await client.listTools()).tools,
    /** Calls a tool, and returns its text. */
    async call(tool: string, given: Record<string, unknown> = {}): Promise<Said> {
      const { content, isError = false } = await client.callTool({ name: tool, arguments: given });
      const texts = content.map((part) => (part.type === 'text' ? part.text : ''));
      return { text: texts.join('\n'), isError };
    },
  };
}

export type Assistant = Awaited<ReturnType<typeof openAssistant>>;
