/** A retired word that names below a folder, or of a file, still have. */
export interface RetiredException {
  readonly word: string
  readonly under: string
  readonly reason: string
}

/** One exception for each folder or file, with a common reason. */
const keep = (word: string, reason: string, under: ReadonlyArray<string>): ReadonlyArray<RetiredException> =>
  under.map((path) => ({ word, under: path, reason }))

const CONTROL_PLANE = "packages/control-plane"

/**
 * Names that stay: others rely on them, or they have the word in its own meaning. One that covers no name any more
 * fails the check.
 */
export const RETIRED_EXCEPTIONS: ReadonlyArray<RetiredException> = [
  ...keep("archived", "a name of the frozen schema", ["migrations/0001_schema.sql"]),
  ...keep("archived", "rows with the flag `archived`", [`${CONTROL_PLANE}/src/event-log/runs/RunAdministration.ts`]),
  ...keep("contribution", "a table of the frozen schema", [
    "migrations/0001_schema.sql",
    "migrations/0002_scenario_of_runs.sql",
    "migrations/0007_counted_calls.sql",
    `${CONTROL_PLANE}/src/queries/dashboard/`,
    `${CONTROL_PLANE}/src/features/archive/RunRows.ts`
  ]),
  ...keep("contribution", "the message Contribute of the multi-round mode", [
    "packages/bench/src/runtime/History.ts",
    `${CONTROL_PLANE}/test/event-log/`,
    `${CONTROL_PLANE}/test/queries/dashboard/`,
    `${CONTROL_PLANE}/test/support/Envelopes.ts`,
    "packages/domain/src/events/ProposalEvents.ts",
    "packages/domain/src/insight/RunSteps.ts",
    "packages/domain/src/projector/",
    "packages/domain/test/projector/",
    "packages/sandbox/"
  ]),
  ...keep("drain", "an observer drains its session before the end of the run", [
    `${CONTROL_PLANE}/src/observe/`,
    `${CONTROL_PLANE}/test/observe/`,
    `${CONTROL_PLANE}/test/support/`,
    "packages/stack/test/observer/support/ObservedStack.ts"
  ]),
  ...keep("drain", "a function of streams of Effect", [`${CONTROL_PLANE}/src/queries/exports/ExportText.ts`]),
  ...keep("inbox", "the icon of an empty list, by the name of its library", ["packages/console/src/ui/States.tsx"]),
  ...keep("insights", "a trigger of the frozen schema", ["migrations/0001_schema.sql"]),
  ...keep(
    "seat",
    "the member `seats` of the API: the voters of a ring, of a listed decision, and of an answer of MCP",
    [
      "packages/console/src/pages/compare/SideBySide.tsx",
      "packages/console/src/pages/run/card/",
      "packages/console/src/ui/decision/",
      "packages/console/src/view/decision/",
      "packages/console/src/view/overview/Decided.ts",
      "packages/console/test/browser/DecisionCard.browser.test.ts",
      "packages/console/test/view/decision/",
      "packages/console/test/view/overview/Decided.test.ts",
      `${CONTROL_PLANE}/test/features/decisions/`,
      `${CONTROL_PLANE}/test/features/mcp/McpAnswers.integration.test.ts`,
      "packages/domain/src/card/",
      "packages/domain/test/card/",
      "packages/mcp/src/tools/Decisions.ts"
    ]
  ),
  ...keep("seat", "a participant that votes in a committee, by its name in the API", [
    "packages/api/src/control-plane/committees/",
    "packages/cli/src/commands/committees/",
    "packages/cli/test/commands/committees/",
    "packages/console/src/pages/committee/",
    "packages/console/src/view/committee/",
    "packages/console/test/view/committee/",
    `${CONTROL_PLANE}/src/features/committees/`,
    `${CONTROL_PLANE}/test/features/committees/`,
    "packages/server/test/support/FakeSearch.ts",
    "packages/domain/src/committee/",
    "packages/domain/src/insight/Recount.ts",
    "packages/domain/test/committee/",
    "packages/domain/test/insight/Recount.test.ts",
    "packages/domain/test/support/SyntheticCommittees.ts"
  ]),
  ...keep("seat", "a participant whose acts come from a person", [
    "packages/console/src/pages/inbox/",
    "packages/console/test/browser/inbox/",
    "packages/api/document/LauncherAnswers.ts",
    "packages/api/src/errors/LauncherFailures.ts",
    "packages/api/src/launcher/PeopleAuditGroup.ts",
    "packages/launcher/src/http/PeopleHttp.ts",
    "packages/domain/src/ag-ui/Interrupts.ts",
    `${CONTROL_PLANE}/test/streams/ag-ui/AgUiHttp.integration.test.ts`,
    `${CONTROL_PLANE}/test/features/evidence/EvidenceRuns.ts`,
    "packages/api/src/control-plane/marks/MarkReports.ts",
    `${CONTROL_PLANE}/src/features/webhooks/WebhookOutbox.ts`,
    `${CONTROL_PLANE}/src/queries/marks/`,
    `${CONTROL_PLANE}/src/runs/PeopleFacts.ts`,
    `${CONTROL_PLANE}/test/runs/people/`,
    "packages/domain/src/events/PeopleFacts.ts",
    "packages/domain/src/insight/Deliberation.ts",
    "packages/domain/src/marks/SeatRecord.ts",
    "packages/domain/src/narrative/PeopleSentence.ts",
    "packages/console/test/view/inbox/",
    "packages/domain/src/people/",
    "packages/domain/test/alerts/RuleHistories.ts",
    "packages/domain/test/people/",
    "migrations/people/",
    "packages/launcher/src/agents/AgentBootstrap.ts",
    "packages/launcher/src/agents/AgentTokens.ts",
    "packages/api/src/launcher/Inbox.ts",
    "packages/launcher/src/http/inbox/",
    "packages/launcher/src/people/",
    "packages/launcher/src/tasks/",
    "packages/launcher/src/slack/",
    "packages/launcher/src/http/slack/",
    "packages/launcher/test/people/",
    "packages/launcher/test/slack/",
    "packages/launcher/src/author/PeopleChecks.ts",
    "packages/launcher/src/compile/",
    "packages/launcher/src/examples/",
    "packages/cli/src/commands/launcher/Inbox.ts",
    "packages/cli/test/commands/launcher/AnswerRefusals.test.ts",
    "packages/cli/test/commands/seals/SignedAnswers.test.ts",
    "packages/launcher/test/compile/CompilePeople.test.ts",
    "packages/mcp/src/tools/People.ts",
    "packages/server/src/settings/DeploymentRules.ts"
  ]),
  ...keep("inbox", "the items of people", [
    "packages/stack/src/demo/Question.ts",
    "packages/domain/src/ag-ui/",
    `${CONTROL_PLANE}/src/streams/ag-ui/AgUiStream.ts`,
    "packages/api/src/client/FollowInbox.ts",
    "packages/api/src/client/InboxClient.ts",
    "packages/console/src/InboxApp.tsx",
    "packages/console/src/client/Inbox.ts",
    "packages/console/src/client/InboxStream.ts",
    "packages/console/src/inbox.tsx",
    "packages/console/src/pages/inbox/",
    "packages/console/src/shell/NavIcon.tsx",
    "packages/console/src/view/inbox/",
    "packages/console/test/browser/Console.browser.test.ts",
    "packages/console/test/browser/inbox/",
    "packages/console/test/view/inbox/",
    "packages/console/vite.config.ts",
    "packages/api/document/LauncherAnswers.ts",
    "packages/api/src/errors/",
    "packages/api/src/launcher/",
    "packages/api/test/errors/Errors.test.ts",
    "packages/cli/src/commands/",
    "packages/cli/test/commands/launcher/AnswerRefusals.test.ts",
    "packages/launcher/src/http/",
    "packages/launcher/src/people/",
    "packages/launcher/src/slack/",
    "packages/launcher/test/http/",
    "packages/launcher/test/people/",
    "packages/launcher/test/slack/",
    "packages/mcp/src/tools/People.ts",
    "packages/mcp/test/HostileTexts.test.ts",
    "packages/server/test/support/FakeLauncher.ts"
  ]),
  ...keep("seat", "a column of the frozen schema", [`${CONTROL_PLANE}/src/admin/processes/Processes.ts`]),
  ...keep("story", "a view of the console, by its name in addresses", ["packages/console/src/pages/run/TabIcon.tsx"]),
  ...keep("story", "a tool of MCP, by its name for assistants", [
    "packages/mcp/",
    `${CONTROL_PLANE}/test/features/mcp/NoCallBreaks.integration.test.ts`
  ])
]
