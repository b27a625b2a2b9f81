import { type DomainError, ERRORS, type ErrorCode, errorBody } from '@lapel/schemas/contracts/errors';
import { challengeOf } from '../http/bearer.ts';
import type { Answer } from '../http/route.ts';

/** The path of the place that assistants use, and of its metadata (RFC 9728 3.1). */
export const MCP_PATH = '/mcp';
export const METADATA_PATH = `/.well-known/oauth-protected-resource${MCP_PATH}`;

const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
const REFUSED = -32_000;
/** What JSON-RPC calls the errors of a message. */
const CODES: Partial<Record<ErrorCode, number>> = { REQUEST_INVALID: INVALID_REQUEST, BODY_TOO_LARGE: INVALID_REQUEST };

/**
 * The answer for an error before a message was understood, in the form of JSON-RPC. One that a token could mend says where
 * the metadata of this place are (RFC 9728 5.1).
 */
export function mcpError(error: DomainError, { baseUrl }: { baseUrl: string }): Answer {
  const { code, details } = error;
  const { message, reason } = errorBody(error) as { message?: string; reason?: string };
  const isJson = !details.some(({ type }) => type === 'json_invalid');
  const challenge = challengeOf(code, null);
  return {
    status: ERRORS[code].status,
    ...(challenge !== undefined && {
      headers: { 'WWW-Authenticate': `${challenge}, resource_metadata="${baseUrl}${METADATA_PATH}"` },
    }),
    body: {
      jsonrpc: '2.0',
      id: null,
      error: {
        code: isJson ? (CODES[code] ?? REFUSED) : PARSE_ERROR,
        message: message ?? reason ?? code,
        data: { code, ...(details.length > 0 && { details }) },
      },
    },
  };
}

/** The codes of the service for the statuses with which the protocol answers a message that it does not accept. */
export const CODE_OF_STATUS: Readonly<Record<number, ErrorCode>> = {
  400: 'REQUEST_INVALID',
  404: 'ASSISTANT_METHOD_UNKNOWN',
};
