import { DomainError } from '@lapel/schemas/contracts/errors';
import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { SCOPES } from '../../core/applications/scopes.ts';
import type { Answer, Input } from '../http/route.ts';
import { MCP_PATH } from '../mcp/answers.ts';
import type { ApiServices, Caller } from './services.ts';

type Services = Pick<ApiServices, 'mcp'>;
type Asked = Input<object, SchemaTypes['common/mcp-message'], unknown, Caller>;

/** Answers a message of an assistant that works for the application, or for a person of its developer. */
export async function askAsAssistant({ mcp }: Services, input: Asked): Promise<Answer> {
  if (!mcp) throw new DomainError('ASSISTANTS_OFF', { values: { setting: 'LAPEL_ASSISTANTS' } });
  const { applicationId, member, scopes } = input.caller;
  return mcp.serve(input as Input, {
    source: member?.memberId ?? applicationId,
    applicationId,
    may: (scope) => scopes.has(scope),
  });
}

/** The metadata of the place that assistants use (RFC 9728). */
export function readResourceMetadata({ mcp }: Services, { baseUrl }: Pick<Input, 'baseUrl'>): Answer {
  if (!mcp) throw new DomainError('ASSISTANTS_OFF', { values: { setting: 'LAPEL_ASSISTANTS' } });
  const body: SchemaTypes['common/protected-resource-metadata'] = {
    resource: `${baseUrl}${MCP_PATH}`,
    resource_name: 'Lapel',
    authorization_servers: [baseUrl],
    scopes_supported: Object.keys(SCOPES).filter((scope) => scope !== 'svc:communication-service'),
    bearer_methods_supported: ['header'],
    resource_documentation: `${baseUrl}/docs/assistants`,
  };
  return { status: 200, body };
}
