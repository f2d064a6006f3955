import { KeyRound } from "lucide-react"
import { useState } from "react"
import "../client/SharedKey.ts"
import { session, signIn } from "../client/Session.ts"
import { useStore, useTitle } from "../ui/hooks.ts"

/** The page that replaces all others while the service refuses the calls. */
export default function SignIn() {
  const { key, why } = useStore(session)
  const [given, setGiven] = useState("")
  useTitle("Sign in")
  return (
    <main className="flex h-full items-center justify-center p-4">
      <form
        className="panel w-full max-w-sm p-6 shadow-float"
        onSubmit={(event) => {
          event.preventDefault()
          if (given.trim() !== "") signIn(given.trim())
        }}
      >
        <KeyRound size={20} aria-hidden className="text-accent" />
        <h1 className="mt-3 text-[18px] font-semibold">Sign in to Runplane</h1>
        <p className="mt-1 text-soft">
          This service requires an API key, or a token of your company's sign-on. The open tabs of this browser share
          the key, and it is gone when the last one is closed.
        </p>
        <label className="mt-4 block">
          <span className="label">API key or token</span>
          <input
            autoFocus
            type="password"
            autoComplete="off"
            className="field mt-1 h-9 w-full"
            value={given}
            onChange={(event) => setGiven(event.target.value)}
          />
        </label>
        {key === undefined ? null : (
          <p role="alert" className="mt-2 text-bad">
            {why}
          </p>
        )}
        <button type="submit" className="btn btn-main mt-4 h-9 w-full justify-center" disabled={given.trim() === ""}>
          Sign in
        </button>
      </form>
    </main>
  )
}
