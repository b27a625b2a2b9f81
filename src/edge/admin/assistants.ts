import { DomainError } from '@lapel/schemas/contracts/errors';
import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { mayAs, type Role } from '../../core/people/roles.ts';
import type { Answer, Input } from '../http/route.ts';
import { MCP_PATH } from '../mcp/answers.ts';
import type { Administrator } from './authorize.ts';
import type { AdminServices } from './services.ts';

type Services = Pick<AdminServices, 'mcp'>;
type Asked = Input<object, SchemaTypes['common/mcp-message'], unknown, Administrator>;

const off = (): DomainError => new DomainError('ASSISTANTS_OFF', { values: { setting: 'LAPEL_ADMIN_ASSISTANTS' } });

/**
 * Answers a message of an assistant that works for a person of administration. A session of the console is no way in: its
 * cookie comes from a browser, and not from the assistant.
 */
export async function askAsAdministrator({ mcp }: Services, input: Asked): Promise<Answer> {
  if (!mcp) throw off();
  const { kind, role, person } = input.caller;
  if (kind === 'session') throw new DomainError('ADMIN_TOKEN_INVALID');
  return mcp.serve(input as Input, {
    source: person?.personId ?? 'administrator token',
    may: (needed) => mayAs(role, needed as Role),
  });
}

/** The metadata of the place that assistants use (RFC 9728). Tokens of administration come from no token service. */
export function readAdminResourceMetadata({ mcp }: Services, { baseUrl }: Pick<Input, 'baseUrl'>): Answer {
  if (!mcp) throw off();
  const body: SchemaTypes['common/protected-resource-metadata'] = {
    resource: `${baseUrl}${MCP_PATH}`,
    resource_name: 'Lapel administration',
    bearer_methods_supported: ['header'],
  };
  return { status: 200, body };
}
