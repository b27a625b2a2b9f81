interface Fault {
  loc: string[];
  msg: string;
}

/** The text of an error body: the message, and each faulty field with its fault; null for a body without any. */
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
