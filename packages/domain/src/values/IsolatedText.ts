/** Right-to-left letters, and characters that turn the direction of what follows. */
const TURNS = /[\u0590-\u08ff\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufeff]/

/** A name or text of others that cannot turn the sentence or the line around it. */
export const isolatedText = (text: string): string => (TURNS.test(text) ? `\u2068${text}\u2069` : text)
