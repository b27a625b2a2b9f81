/** The proposal in the answer of a first call. */
export const proposalIn = (text: string): string => /^proposal=(\S+)$/m.exec(text)?.[1] ?? '';
