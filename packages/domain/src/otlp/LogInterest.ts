import type { Meaning } from "./Meaning.ts"
import { meaningOfLog } from "./MeaningOf.ts"
import { type LoggedMessage, messageOf } from "./meaning/Messages.ts"
import type { LogRecord } from "./Span.ts"

/** Whether a log record says anything beside what other programs log. */
export const isOfInterest = (meaning: Meaning, message: LoggedMessage | undefined): boolean =>
  message !== undefined ||
  meaning.usage !== undefined ||
  meaning.input !== undefined ||
  meaning.output !== undefined ||
  meaning.instructions !== undefined ||
  meaning.statements !== undefined ||
  meaning.evaluations !== undefined

/** The same of a record that is not read yet. */
export const saysSomething = (log: LogRecord): boolean =>
  isOfInterest(meaningOfLog(log), messageOf(log.name, log.body, log.attributes))
