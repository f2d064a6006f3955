import { failure } from "./Failure.ts"
import * as Errors from "./LauncherErrors.ts"

/** The ways in which operations of the launch service fail, each with its error (docs/internals/launch.md#errors). */

export const InvalidScenarioRef = failure("InvalidScenarioRef", Errors.LaunchRejected)
export const InvalidInputs = failure("InvalidInputs", Errors.LaunchRejected)
export const CompilationFailed = failure("CompilationFailed", Errors.LaunchRejected)
export const PackNotFound = failure("PackNotFound", Errors.CatalogEntryNotFound)
export const ScenarioNotFound = failure("ScenarioNotFound", Errors.CatalogEntryNotFound)
export const VersionNotFound = failure("VersionNotFound", Errors.CatalogEntryNotFound)
export const TemplateNotFound = failure("TemplateNotFound", Errors.CatalogEntryNotFound)
export const AgentNotFound = failure("AgentNotFound", Errors.CatalogEntryNotFound)
export const ProcessNotFound = failure("ProcessNotFound", Errors.CatalogEntryNotFound)
export const ItemNotFound = failure("ItemNotFound", Errors.CatalogEntryNotFound)
export const NoSeatOfSession = failure("NoSeatOfSession", Errors.CatalogEntryNotFound)
export const ErasureTooEarly = failure("ErasureTooEarly", Errors.LaunchConflict)
export const PersonForbidden = failure("PersonForbidden", Errors.LaunchForbidden)
export const SignInNotFresh = failure("SignInNotFresh", Errors.LaunchForbidden)
export const PasskeyMissing = failure("PasskeyMissing", Errors.LaunchForbidden)
export const PasskeyRefused = failure("PasskeyRefused", Errors.LaunchForbidden)
export const LinkNotFound = failure("LinkNotFound", Errors.CatalogEntryNotFound)
export const LinkRefused = failure("LinkRefused", Errors.LaunchForbidden)
export const LinkCodeWrong = failure("LinkCodeWrong", Errors.LaunchForbidden)
export const LinkCodeMissing = failure("LinkCodeMissing", Errors.LaunchForbidden)
export const LinkOver = failure("LinkOver", Errors.ItemGone)
export const TooManyCodes = failure("TooManyCodes", Errors.TooManyCodes)
export const CodeNotSent = failure("CodeNotSent", Errors.InboxUnavailable)
export const PasskeyNotFound = failure("PasskeyNotFound", Errors.CatalogEntryNotFound)
export const InvalidAnswer = failure("InvalidAnswer", Errors.LaunchRejected)
export const InvalidReturn = failure("InvalidReturn", Errors.LaunchRejected)
export const InvalidDelegation = failure("InvalidDelegation", Errors.LaunchRejected)
export const DelegationsFull = failure("DelegationsFull", Errors.LaunchConflict)
export const DelegationNotFound = failure("DelegationNotFound", Errors.CatalogEntryNotFound)
export const DelegationOver = failure("DelegationOver", Errors.LaunchConflict)
export const UnknownCursor = failure("UnknownCursor", Errors.LaunchRejected)
export const ItemAnswered = failure("ItemAnswered", Errors.AnswerConflict)
export const ItemStale = failure("ItemStale", Errors.AnswerConflict)
export const ItemNotOpen = failure("ItemNotOpen", Errors.AnswerConflict)
export const BasisUnknown = failure("BasisUnknown", Errors.AnswerConflict)
export const HistoryGone = failure("HistoryGone", Errors.AnswerConflict)
export const ItemClosed = failure("ItemClosed", Errors.ItemGone)
export const TooManyAnswers = failure("TooManyAnswers", Errors.TooManyAnswers)
export const InvalidQuestion = failure("InvalidQuestion", Errors.LaunchRejected)
export const TooManyQuestions = failure("TooManyQuestions", Errors.TooManyQuestions)
export const TooManyStreams = failure("TooManyStreams", Errors.TooManyStreams)
export const SessionUnread = failure("SessionUnread", Errors.InboxUnavailable)
export const InboxDatabaseAway = failure("InboxDatabaseAway", Errors.InboxUnavailable)
export const NoPeopleDatabase = failure("NoPeopleDatabase", Errors.LauncherFault)
export const LaunchUnaffordable = failure("LaunchUnaffordable", Errors.LaunchUnaffordable)
export const LaunchConflict = failure("LaunchConflict", Errors.LaunchConflict)
export const InvalidPackData = failure("InvalidPackData", Errors.LauncherFault)
export const InvalidConfig = failure("InvalidConfig", Errors.LauncherFault)
export const AuthMintFailed = failure("AuthMintFailed", Errors.AgentStartFailed)
export const AgentAttachFailed = failure("AgentAttachFailed", Errors.AgentStartFailed)
export const LaunchesFull = failure("LaunchesFull", Errors.LaunchesFull)

/** The failures of a compilation. */
export const compilation = [
  InvalidScenarioRef,
  InvalidInputs,
  CompilationFailed,
  PackNotFound,
  ScenarioNotFound,
  VersionNotFound,
  TemplateNotFound,
  InvalidPackData
] as const
