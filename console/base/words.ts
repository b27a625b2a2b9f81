interface Fault {
  loc: string[];
  msg: string;
}

/**
 * Makes the text for an error from the body of its answer: the message, and each faulty field with its fault. Null for
 * a body without a message.
 */
export function wordsOf(body: unknown): string | null {
  const {
    message,
    reason,
    details = [],
    error_description: description,
  } = (body ?? {}) as {
    message?: string;
    reason?: string;
    details?: Fault[];
    error_description?: string;
  };
  const faults = details.map(({ loc, msg }) => `${loc.slice(1).join('.') || loc[0] || 'request'}: ${msg}`);
  return [message ?? reason ?? description, ...faults].filter(Boolean).join(' ') || null;
}
