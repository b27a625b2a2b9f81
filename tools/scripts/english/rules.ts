/** A way to write that costs a reader time. */
interface Rule {
  pattern: RegExp;
  /** What to write in its place. */
  say: string;
}

export const RULES: readonly Rule[] = [
  { pattern: /\bwho(?:so)?ever\b/i, say: 'name the person: an operator, a caller, a thief, anybody' },
  { pattern: /\bbehind which\b/i, say: '"after", with what stands before it' },
  { pattern: /(?:^|[.:;] )Who (?!is\b[^.]*\?)[a-z]+ [^?]*$/, say: 'name the person: a caller who ..., the operator' },
  {
    pattern:
      // A question may ask what failed.
      /(?:^|[.;] )What (?![^.;]*\?)(?!is|are|do|does|did|to|if|happens|was|were|it|you|else|can|will|would|for|about|and)[a-z]+/,
    say: 'the noun of the field in place of "what ..."',
  },
  { pattern: /\bwhat of\b/i, say: 'the noun of the field in place of "what of ..."' },
  {
    pattern: /\bnone of (?:which|whom)\b|\bnot unless\b|\bno(?:body|thing)? but\b/i,
    say: 'one negation in a sentence',
  },
  {
    pattern: /\b(?:thus|hence|thereof|thereby|whereby|wherein|hereby|lest|whilst)\b/i,
    say: 'a common word: so, by this',
  },
  { pattern: /\bso (?:much|many) (?:earlier|later|longer)\b/i, say: 'the number, or its name' },
  { pattern: /\bof whom\b/i, say: 'a sentence of its own' },
  { pattern: /\bwhere nobody can\b/i, say: 'the case: without a terminal' },
  { pattern: /though \.\.\./, say: 'a whole sentence' },
];

/** Marks the line behind it, or its own line, as kept for a reason. */
export const KEPT = /english: \S/;
