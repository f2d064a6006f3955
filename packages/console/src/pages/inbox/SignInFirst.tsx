import { signInAddress } from "../../client/Inbox.ts"

/** In place of the content, until the person has signed in. */
export const SignInFirst = ({ itemId }: { readonly itemId?: string }) => (
  <section className="panel m-4 p-6 text-center">
    <h1 className="text-[18px] font-semibold">Sign in to see your questions</h1>
    <p className="mt-1 text-soft">An answer counts as yours: the service has to know who you are.</p>
    <a className="btn btn-main mt-4 h-11 px-6 text-[15px]" href={signInAddress(itemId)}>
      Sign in
    </a>
  </section>
)
