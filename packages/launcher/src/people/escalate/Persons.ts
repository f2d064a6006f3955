import * as PgClient from "@effect/sql-pg/PgClient"
import type { KnownPeople } from "@runplane/domain"
import { isOpen, readSettings, ServiceSettings } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

/** The people of the packs. A failure leaves open who is in a group. */
export class PeopleDirectory extends Context.Service<
  PeopleDirectory,
  {
    /** The groups of a person by the slug of the pack. */
    readonly groupsOf: (
      person: string
    ) => Effect.Effect<ReadonlyMap<string, ReadonlyArray<string>>, { readonly message: string }>
    /** The persons of the pack of a scenario, with their groups; empty for a pack without a directory. */
    readonly peopleOf: (
      scenarioRef: string
    ) => Effect.Effect<
      ReadonlyArray<{ readonly id: string; readonly groups: ReadonlyArray<string> }>,
      { readonly message: string }
    >
  }
>()("runplane/launcher/PeopleDirectory") {}

/** With what people sign in: it decides which groups the service can know all members of. */
export class PeopleSignIn extends Context.Service<
  PeopleSignIn,
  {
    /** Whether tokens of an issuer give groups. */
    readonly hasTokens: boolean
    /** Whether no sign-in is required: then there is one person. */
    readonly isLocal: boolean
  }
>()("runplane/launcher/PeopleSignIn") {
  static readonly layer = Layer.effect(
    PeopleSignIn,
    Effect.map(
      readSettings({ keys: ServiceSettings.AUTH_API_KEYS, issuer: ServiceSettings.OIDC_ISSUER }),
      ({ issuer, keys }) => PeopleSignIn.of({ hasTokens: issuer !== undefined, isLocal: isOpen({ issuer, keys }) })
    )
  )
}

const decodeMember = Schema.decodeUnknownEffect(
  Schema.Struct({ person: Schema.String, groups: Schema.fromJsonString(Schema.Array(Schema.String)) })
)

/** Persons whom the service knows: those of the directories of packs, and those who have signed in. */
export class Persons extends Context.Service<Persons, Effect.Success<typeof make>>()("runplane/launcher/Persons") {
  static readonly layer = Layer.effect(
    Persons,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const directory = yield* PeopleDirectory
  const { hasTokens, isLocal } = yield* PeopleSignIn

  /** Who has signed in to the page, with the groups of the token. */
  const signedIn = Effect.flatMap(
    sql`
      SELECT DISTINCT ON (person) person, groups::text AS groups FROM people.sign_ins WHERE role IS NOT NULL
      ORDER BY person, created_at DESC`,
    (rows) => Effect.orDie(Effect.forEach(rows, (row) => decodeMember(row)))
  )

  return {
    /** What is known of persons for a scenario. Packs that cannot be read leave it open who is in a group. */
    known: Effect.fnUntraced(function* (scenarioRef: string) {
      const listed = yield* Effect.catch(directory.peopleOf(scenarioRef), ({ message }) =>
        Effect.as(Effect.logWarning(`the members of groups are not known: ${message}`), undefined)
      )
      const members = (yield* signedIn).map(({ groups, person }) => ({ id: person, groups }))
      const elsewhere = listed === undefined ? "directory" : hasTokens ? "tokens" : undefined
      const known: KnownPeople = { persons: [...(listed ?? []), ...members], elsewhere, isLocal }
      return known
    }),

    /** The groups that the packs give to a person; none of packs that cannot be read. */
    packGroupsOf: (person: string) =>
      Effect.catch(directory.groupsOf(person), ({ message }) =>
        Effect.as(
          Effect.logWarning(`the groups of ${person} are not known: ${message}`),
          new Map<string, ReadonlyArray<string>>()
        )
      )
  }
})
