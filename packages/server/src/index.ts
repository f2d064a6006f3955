export {
  guardedLookup,
  literalAddress,
  reasonOf,
  refusalOf,
  shownUrl,
  TargetRefused,
  whyRefused
} from "./CallbackTargets.ts"
export { readCertificates } from "./Certificates.ts"
export { consoleFileAnswer, consolePageAnswer, consoleSafety, isConsoleAsset } from "./console/ConsoleAnswers.ts"
export { CONSOLE_PAGE, type ConsoleFile, ConsoleFiles, INBOX_PAGE } from "./console/ConsoleFiles.ts"
export { unbuiltAnswer } from "./console/UnbuiltConsole.ts"
export { cutOnFailure, encodeFrames, retryHint, sseResponse } from "./EventStreams.ts"
export { type FairTurns, makeFairTurns, makeLongTurns, TurnRefused } from "./FairTurns.ts"
export { fileProblem } from "./FileProblem.ts"
export { acceptsHtml } from "./http/AcceptsHtml.ts"
export { RouteGuard } from "./http/ApiKeyGuard.ts"
export { actorsOf, indexOfKey } from "./http/ApiKeys.ts"
export { BudgetExchange, EXCHANGE_MS } from "./http/BudgetExchange.ts"
export { withBudgetRetry } from "./http/BudgetRetry.ts"
export { networkOf } from "./http/ClientAddress.ts"
export { makeWrongCredentials } from "./http/ClientBudgets.ts"
export { acceptedCoding } from "./http/Compression.ts"
export { makeCors } from "./http/Cors.ts"
export { crossSiteRefusal, provenanceOf, type Trust } from "./http/CrossSite.ts"
export { launcherDocument, layerControlPlaneDocs, layerLauncherDocs } from "./http/Docs.ts"
export { edgeServices } from "./http/Edge.ts"
export { controlPlaneForm, launcherForm } from "./http/EdgeForm.ts"
export { HttpObserver, type ObservedRequest, RequestId } from "./http/HttpObserver.ts"
export { ListenFailed, type ListenOptions, layerHttpServer } from "./http/Listening.ts"
export { RawRoutes } from "./http/RawRoutes.ts"
export { readinessAnswer } from "./http/ReadinessAnswer.ts"
export { type AccountState, makeRequestBudget, type Spent } from "./http/RequestBudget.ts"
export { RequestFacts, type Via } from "./http/RequestFacts.ts"
export { ControlPlaneEdge, LauncherEdge } from "./http/ServiceEdges.ts"
export { SignIns, Tickets } from "./http/Tickets.ts"
export { inSlices } from "./InSlices.ts"
export { jsonLine, layerLogging, pairsLine, personLine } from "./Logging.ts"
export { changeLogLevel, LogLevelSwitch, switched } from "./LogLevelSwitch.ts"
export { forever, type LoopOptions, type Pause, roundGoesOn, roundWaits } from "./loops/Forever.ts"
export { LoopFaults } from "./loops/LoopFaults.ts"
export { loopHealth } from "./loops/LoopHealth.ts"
export { Loops, type LoopTrouble } from "./loops/Loops.ts"
export { withoutSecrets } from "./loops/WithoutSecrets.ts"
export { makeServiceRegistry, type ServiceRegistry } from "./metrics/ServiceRegistry.ts"
export { makeOutageLog, type OutageLog } from "./OutageLog.ts"
export { type Claims, type Held, heldIn, nameOf, subjectOf } from "./oidc/Claims.ts"
export { PROJECT_FOLDER, projectFolderOf } from "./ProjectFolder.ts"
export { Shutdown } from "./Shutdown.ts"
export {
  checkSettings,
  type SettingsReport,
  type SettingTexts,
  validateRows,
  validateSettings
} from "./settings/CheckSettings.ts"
export { CliSettings } from "./settings/CliSettings.ts"
export { ControlPlaneSettings } from "./settings/ControlPlaneSettings.ts"
export { type DatabaseAddress, type DatabaseHost, isLoopback, readDatabaseAddress } from "./settings/DatabaseAddress.ts"
export { isOpen, validateDeployment, validateLaunchDeployment } from "./settings/DeploymentRules.ts"
export { LaunchSettings } from "./settings/LaunchSettings.ts"
export { listenHost, warnWithoutAuthentication } from "./settings/ListenHost.ts"
export {
  defaultsOf,
  readSetting,
  readSettings,
  readText,
  type SettingProblem,
  SettingsRefused,
  type SettingValues,
  sentenceOf,
  settingRefused
} from "./settings/ReadSettings.ts"
export { RuntimeSettings } from "./settings/RuntimeSettings.ts"
export { SandboxSettings } from "./settings/SandboxSettings.ts"
export { ServiceSettings } from "./settings/ServiceSettings.ts"
export { DEVELOPMENT, PROGRAMS, type Program, type Setting } from "./settings/Setting.ts"
export { settingNames, settingsOfProgram } from "./settings/SettingsTable.ts"
export {
  printSettings,
  type SettingInForce,
  settingsHelp,
  settingsInForce,
  wantsSettings
} from "./settings/SettingTexts.ts"
export { warnOfSharedKeyFile } from "./settings/SharedKeyFile.ts"
export { StackSettings } from "./settings/StackSettings.ts"
export { configuredNames, foreignNames, unknownSettings } from "./settings/UnknownSettings.ts"
export { type CallerSpan, type RootSpanIds, RootSpans } from "./traces/RootSpans.ts"
export { callerFrom, callingSpan, traceParentOf } from "./traces/TraceParent.ts"
export { layerTracing, tracingEnabled } from "./traces/Tracing.ts"
