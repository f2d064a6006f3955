import { WEBHOOK_FORMATS } from "@runplane/domain"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import { usageProblem } from "../../CliFailure.ts"
import { withControlPlane } from "../../Connection.ts"
import { printDone, printFacts, printRows } from "../../Output.ts"

const id = Argument.String("webhook").pipe(Argument.withDescription("Id of the subscription"))

const list = Command.make("list", {}, () =>
  withControlPlane(({ api }) =>
    Effect.gen(function* () {
      yield* printRows(
        [
          { title: "WEBHOOK", text: ({ id }) => id },
          { title: "ACTIVE", text: ({ active }) => (active ? "yes" : "no") },
          { title: "EVENTS", text: ({ events }) => (events.length === 0 ? "all" : events.join(",")) },
          { title: "URL", text: ({ url }) => url, elastic: true }
        ],
        yield* api.webhooks.list()
      )
    })
  )
).pipe(Command.withDescription("List subscriptions"))

const add = Command.make(
  "add",
  {
    url: Argument.String("url").pipe(Argument.withDescription("Where deliveries go")),
    event: Flag.String("event").pipe(Flag.withDescription("Only this event; may be repeated"), Flag.atLeast(0)),
    format: Flag.Literals("format", WEBHOOK_FORMATS).pipe(
      Flag.withDescription("slack or teams: messages about questions to people"),
      Flag.withDefault("generic")
    )
  },
  ({ event, format, url }) =>
    Effect.gen(function* () {
      // A secret on the command line would be visible in the list of processes.
      const secret = process.env["RUNPLANE_WEBHOOK_SECRET"] ?? ""
      if (secret === "") return yield* usageProblem("set RUNPLANE_WEBHOOK_SECRET to what signs the deliveries")
      yield* withControlPlane(({ api }) =>
        Effect.gen(function* () {
          const made = yield* api.webhooks.create({ payload: { url, events: event, secret, format } })
          yield* printFacts(
            [
              ["Webhook", made.id],
              ["URL", made.url],
              ["Format", made.format],
              ["Events", made.events.length === 0 ? "all" : made.events.join(", ")]
            ],
            made
          )
        })
      )
    })
).pipe(Command.withDescription("Subscribe an address; RUNPLANE_WEBHOOK_SECRET signs its deliveries"))

const remove = Command.make("remove", { id }, ({ id }) =>
  Effect.gen(function* () {
    yield* withControlPlane(({ api }) => api.webhooks.remove({ params: { id } }))
    yield* printDone(`webhook ${id} is removed`, { removed: id })
  })
).pipe(Command.withDescription("End a subscription"))

const test = Command.make("test", { id }, ({ id }) =>
  withControlPlane(({ api }) =>
    Effect.gen(function* () {
      const delivery = yield* api.webhooks.test({ params: { id } })
      yield* printFacts(
        [
          ["Delivery", delivery.id],
          ["Event", delivery.event],
          ["Status", delivery.status],
          ["What became of it", `runplane webhooks deliveries ${id}`]
        ],
        delivery
      )
    })
  )
).pipe(Command.withDescription("Send the event webhook.test to a subscription"))

const deliveries = Command.make(
  "deliveries",
  {
    id,
    limit: Flag.Int("limit").pipe(Flag.withDescription("Most deliveries, 1 to 200"), Flag.withDefault(20))
  },
  ({ id, limit }) =>
    withControlPlane(({ api }) =>
      Effect.gen(function* () {
        const page = yield* api.webhooks.deliveries({ params: { id }, query: { limit, offset: 0 } })
        yield* printRows(
          [
            { title: "DELIVERY", text: (row) => row.id },
            { title: "STATUS", text: ({ status }) => status },
            { title: "TRIES", text: ({ attempts }) => String(attempts) },
            { title: "EVENT", text: ({ event }) => event, elastic: true }
          ],
          page.data,
          page
        )
      })
    )
).pipe(Command.withDescription("List the deliveries of a subscription, the latest first"))

const redeliver = Command.make(
  "redeliver",
  { id, delivery: Argument.String("delivery").pipe(Argument.withDescription("Id of the delivery")) },
  ({ delivery, id }) =>
    withControlPlane(({ api }) =>
      Effect.gen(function* () {
        const again = yield* api.webhooks.redeliver({ params: { id, deliveryId: delivery } })
        yield* printDone(`delivery ${again.id} is ${again.status}`, again)
      })
    )
).pipe(Command.withDescription("Send a delivery of a subscription once more"))

/** `runplane webhooks ...` */
export const webhooks = Command.make("webhooks").pipe(
  Command.withDescription("Webhook subscriptions"),
  Command.withSubcommands([list, add, test, remove, deliveries, redeliver])
)
