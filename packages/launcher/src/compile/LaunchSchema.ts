import type { CatalogEntryNotFound, LaunchSchema } from "@runplane/api"
import * as Result from "effect/Result"
import type { AgentProfile } from "../catalog/AgentCatalog.ts"
import { type ScenarioVersion, scenarioRefOf } from "../catalog/Catalog.ts"
import type { Participant } from "../catalog/PackDocuments.ts"
import { defaultsOf, findTemplate } from "./CompileLaunch.ts"

/**
 * What a form needs to offer a launch, without the agents' profiles: the version as declared, with a template's changes
 * when one is named.
 */
export const launchSchemaOf = (
  scenario: ScenarioVersion,
  templateId: string | undefined
): Result.Result<Omit<LaunchSchema, "agents">, CatalogEntryNotFound> =>
  Result.map(findTemplate(scenario, templateId), (template) => {
    const { runtime, launch } = template?.plan ?? scenario.base
    return {
      scenarioRef: scenarioRefOf(scenario),
      ...(template === undefined ? {} : { templateId: template.slug }),
      formSchema: scenario.formSchema,
      defaults: defaultsOf(scenario, template),
      participants: launch.participants,
      runtime,
      launchSummary: {
        modeName: launch.modeName,
        modeVersion: launch.modeVersion,
        configurationVersion: launch.configurationVersion,
        ...(launch.policyVersion === undefined ? {} : { policyVersion: launch.policyVersion }),
        ttlMs: launch.ttlMs,
        ...(launch.initiatorParticipantId === undefined
          ? {}
          : { initiatorParticipantId: launch.initiatorParticipantId })
      },
      ...(scenario.expectedDecisionKinds === undefined ? {} : { expectedDecisionKinds: scenario.expectedDecisionKinds })
    }
  })

/** The profile of a participant's agent, in the participant's own role when it has one. */
export const profileInRole = (profile: AgentProfile, participant: Participant): AgentProfile => ({
  ...profile,
  role: participant.role || profile.role
})
