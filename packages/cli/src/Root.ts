import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"

/** `runplane` without a command, and the flags that every command has. */
export const root = Command.make("runplane").pipe(
  Command.withDescription("Watch and steer runs of multi-agent sessions"),
  Command.withSharedFlags({
    url: Flag.String("url").pipe(
      Flag.withDescription("Address of the control plane; RUNPLANE_URL, else http://127.0.0.1:3001"),
      Flag.optional
    ),
    launcherUrl: Flag.String("launcher-url").pipe(
      Flag.withDescription("Address of the launch service; RUNPLANE_LAUNCHER_URL, else http://127.0.0.1:3000"),
      Flag.optional
    ),
    profile: Flag.String("profile").pipe(
      Flag.withDescription("Profile of addresses and key; RUNPLANE_PROFILE, else that of profiles use, else default"),
      Flag.optional
    ),
    json: Flag.Boolean("json").pipe(Flag.withDescription("Print one JSON document"), Flag.withDefault(false)),
    jsonl: Flag.Boolean("jsonl").pipe(
      Flag.withDescription("Print one JSON object a line, for each entry"),
      Flag.withDefault(false)
    )
  })
)
