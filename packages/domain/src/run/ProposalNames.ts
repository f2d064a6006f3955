/** Longest option that names its proposal, characters. A longer one is cited by its id. */
const MAX_NAME = 60

/** A text as it is compared: in any case, without the space around it. */
export const wordKey = (text: string): string => text.trim().toLowerCase()

/**
 * How sentences name each of these proposals, of which the options are given by id: by its option where that is short,
 * on one line, and no other has it; else by its id.
 */
export const namesAmong = (options: ReadonlyMap<string, string>): ((proposalId: string) => string) => {
  const uses = new Map<string, number>()
  for (const option of options.values()) uses.set(wordKey(option), (uses.get(wordKey(option)) ?? 0) + 1)
  return (proposalId) => {
    const option = options.get(proposalId)?.trim() ?? ""
    const isShort = option !== "" && option.length <= MAX_NAME && !/[\r\n\u2028\u2029]/.test(option)
    return isShort && uses.get(wordKey(option)) === 1 ? option : proposalId
  }
}
