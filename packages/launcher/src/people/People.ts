import * as PgClient from "@effect/sql-pg/PgClient"
import { DatabaseUnavailable, describeSqlError } from "@runplane/database"
import { ParticipantClient } from "@runplane/runtime"
import { LaunchSettings, readSettings } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { isSqlError } from "effect/sql/SqlError"
import { runtimeOptions } from "../agents/RuntimeOptions.ts"
import { invalidConfig } from "../common/LaunchErrors.ts"
import { RunRecords } from "../control-plane/RunRecords.ts"
import { LauncherSettings, type LauncherSettingsShape } from "../LauncherSettings.ts"
import { RemoteAgents } from "../remote/RemoteAgents.ts"
import { AnswerRows } from "./AnswerRows.ts"
import { Answers } from "./Answers.ts"
import { InboxChanges } from "./changes/InboxChanges.ts"
import { Delegations } from "./escalate/Delegations.ts"
import { PeopleSignIn } from "./escalate/Persons.ts"
import { Inbox } from "./Inbox.ts"
import { ItemRows } from "./ItemRows.ts"
import { Links } from "./links/Links.ts"
import { NoticeEvents } from "./notices/NoticeEvents.ts"
import { NoticeRows } from "./notices/NoticeRows.ts"
import { OpenLimits } from "./OpenLimits.ts"
import { PeopleAudit } from "./PeopleAudit.ts"
import { DATABASE_SETTING, layerPeopleDatabase } from "./PeopleDatabase.ts"
import { PeopleErasures } from "./PeopleErasures.ts"
import { PasskeyProofs } from "./passkeys/PasskeyProofs.ts"
import { Passkeys } from "./passkeys/Passkeys.ts"
import { Questions } from "./questions/Questions.ts"
import { layerRecordOutbox } from "./RecordOutbox.ts"
import { Returns } from "./Returns.ts"
import { SeatRows } from "./SeatRows.ts"
import { SeatRunner } from "./SeatRunner.ts"
import { SeatWork } from "./SeatWork.ts"
import { SignInRows } from "./SignInRows.ts"
import { Suspensions } from "./suspend/Suspensions.ts"
import { NoticeAddress } from "./turns/TurnCalls.ts"
import { TurnRows } from "./turns/TurnRows.ts"
import { TurnWakes } from "./turns/TurnWakes.ts"

/** The seats of people in a service that has a database for them. */
export interface PeopleShape {
  readonly sql: PgClient.PgClient
  readonly runner: SeatRunner["Service"]
  readonly answers: Answers["Service"]
  readonly inbox: Inbox["Service"]
  readonly changes: InboxChanges["Service"]
  readonly seats: SeatRows["Service"]
  readonly items: ItemRows["Service"]
  readonly answerRows: AnswerRows["Service"]
  readonly audit: PeopleAudit["Service"]
  readonly erasures: PeopleErasures["Service"]
  readonly questions: Questions["Service"]
  readonly returns: Returns["Service"]
  readonly notices: NoticeRows["Service"]
  readonly noticeEvents: NoticeEvents["Service"]
  readonly delegations: Delegations["Service"]
  readonly signIns: SignInRows["Service"]
  readonly limits: OpenLimits["Service"]
  readonly passkeys: Passkeys["Service"]
  readonly proofs: PasskeyProofs["Service"]
  readonly suspensions: Suspensions["Service"]
  readonly links: Links["Service"]
  readonly turns: TurnRows["Service"]
  readonly turnWakes: TurnWakes["Service"]
}

/** The seats of people; undefined in a service without a database, which launches no scenario with a seat. */
export class People extends Context.Service<People, PeopleShape | undefined>()("runplane/launcher/People") {
  /** Connects, migrates, and runs the seats that are not finished. A database that is away stops the start. */
  static readonly layer = Layer.unwrap(
    Effect.gen(function* () {
      const settings = yield* LauncherSettings
      if (settings.database === undefined) return People.layerNone
      if (settings.runtimeAddress === "") {
        return yield* invalidConfig(`${DATABASE_SETTING} needs PROTO_RUNTIME_ADDRESS: seats act in that runtime`)
      }
      const { url } = yield* Effect.mapError(readSettings({ url: LaunchSettings.LAUNCHER_PUBLIC_URL }), ({ message }) =>
        invalidConfig(message)
      )
      return layerWith(settings.database, yield* runtimeOptions(settings)).pipe(
        Layer.provide(Layer.succeed(NoticeAddress, url))
      )
    })
  )

  static readonly layerNone = Layer.succeed(People, undefined)
}

const layerWith = (
  database: NonNullable<LauncherSettingsShape["database"]>,
  runtime: Effect.Success<ReturnType<typeof runtimeOptions>>
) =>
  Layer.effect(
    People,
    Effect.gen(function* () {
      return People.of({
        sql: yield* PgClient.PgClient,
        runner: yield* SeatRunner,
        answers: yield* Answers,
        inbox: yield* Inbox,
        changes: yield* InboxChanges,
        seats: yield* SeatRows,
        items: yield* ItemRows,
        answerRows: yield* AnswerRows,
        audit: yield* PeopleAudit,
        erasures: yield* PeopleErasures,
        questions: yield* Questions,
        returns: yield* Returns,
        notices: yield* NoticeRows,
        noticeEvents: yield* NoticeEvents,
        delegations: yield* Delegations,
        signIns: yield* SignInRows,
        limits: yield* OpenLimits,
        passkeys: yield* Passkeys,
        proofs: yield* PasskeyProofs,
        suspensions: yield* Suspensions,
        links: yield* Links,
        turns: yield* TurnRows,
        turnWakes: yield* TurnWakes
      })
    })
  ).pipe(
    Layer.provide(
      Layer.mergeAll(
        Answers.layer,
        Inbox.layer,
        InboxChanges.layer,
        Links.layer,
        PasskeyProofs.layer,
        Passkeys.layer,
        PeopleAudit.layer,
        PeopleErasures.layer,
        Questions.layer,
        Returns.layer,
        NoticeRows.layer,
        NoticeEvents.layer,
        Delegations.layer,
        SignInRows.layer,
        TurnWakes.layer
      )
    ),
    Layer.provide([SeatRunner.layer, layerRecordOutbox]),
    Layer.provide(RunRecords.layer),
    Layer.provide(SeatWork.layer),
    Layer.provide([PeopleSignIn.layer, RemoteAgents.layer]),
    Layer.provide(ParticipantClient.layerGrpc(runtime)),
    Layer.provide(layerPeopleDatabase(database)),
    Layer.catch((error) => Layer.effect(People, Effect.fail(startFailure(error))))
  )

/** A refused schema and a failed migration keep their own words: the database is available. */
const startFailure = <E extends { readonly message: string }>(error: E) =>
  isSqlError(error) ? new DatabaseUnavailable({ reason: `${DATABASE_SETTING}: ${describeSqlError(error)}` }) : error

/** The text for a service whose people have no database. */
export const NO_PEOPLE_DATABASE = `questions to people need a database: set ${DATABASE_SETTING}`
