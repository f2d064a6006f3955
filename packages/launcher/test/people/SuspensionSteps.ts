/** Where the process of the fault test kills itself, in the order in which an act comes there. */
export const SUSPENSION_STEPS = [
  "suspend planned",
  "suspend called",
  "suspend made",
  "suspend settled",
  "resume planned",
  "resume called",
  "resume made",
  "resume settled"
] as const
export type SuspensionStep = (typeof SUSPENSION_STEPS)[number]
