import { CustomResource, Fn, SecretValue } from "aws-cdk-lib";
import { CnameRecord, type IHostedZone, MxRecord, TxtRecord } from "aws-cdk-lib/aws-route53";
import { type ISecret, Secret } from "aws-cdk-lib/aws-secretsmanager";
import { Construct } from "constructs";

export interface PillarboxProps {
  /** The name of Pillarbox's stack. */
  readonly stack: string;
  /** The account, if Pillarbox's management key is an operator's. */
  readonly account?: string;
  /** The domain to send from, and the zone that has its records. */
  readonly zone: IHostedZone;
  /** The part of the address before the @. */
  readonly sender: string;
}

/** A domain with its DNS records, a default sender, and a key that sends. */
export class Pillarbox extends Construct {
  readonly key: ISecret;
  private readonly props: PillarboxProps;

  constructor(scope: Construct, id: string, props: PillarboxProps) {
    super(scope, id);
    this.props = props;
    const { zone } = props;
    const domain = this.resource("Domain", "Domain", { Name: zone.zoneName });
    const ownership = new TxtRecord(this, "Ownership", {
      zone,
      recordName: `${domain.getAttString("OwnershipName")}.`,
      values: [domain.getAttString("OwnershipValue")],
    });
    const proved = this.resource("Proved", "Domain", { Name: zone.zoneName, WaitFor: "proof", After: ownership.domainName });
    const records: Construct[] = [1, 2, 3].map(
      (number) =>
        new CnameRecord(this, `Dkim${number}`, {
          zone,
          recordName: `${proved.getAttString(`Dkim${number}Name`)}.`,
          domainName: proved.getAttString(`Dkim${number}Value`),
        }),
    );
    const recordName = `${proved.getAttString("MailFromName")}.`;
    const hostName = Fn.select(1, Fn.split(" ", proved.getAttString("MailFromValue")));
    records.push(new MxRecord(this, "MailFrom", { zone, recordName, values: [{ priority: 10, hostName }] }));
    records.push(new TxtRecord(this, "MailFromSpf", { zone, recordName, values: [proved.getAttString("MailFromSpfValue")] }));
    const sender = this.resource("Sender", "Sender", { Address: `${props.sender}@${zone.zoneName}`, Default: true });
    sender.node.addDependency(...records);
    const key = this.resource("Key", "Key", { Name: id, Preset: "send" });
    this.key = Secret.fromSecretCompleteArn(this, "KeySecret", key.getAttString("SecretArn"));
  }

  /** Return the key's value for a property that CloudFormation resolves. */
  get keyValue(): SecretValue {
    return this.key.secretValue;
  }

  private resource(id: string, type: string, properties: Record<string, unknown>): CustomResource {
    return new CustomResource(this, id, {
      resourceType: `Custom::Pillarbox${type}`,
      serviceToken: Fn.importValue(`${this.props.stack}-resources`),
      properties: { ...(this.props.account && { Account: this.props.account }), ...properties },
    });
  }
}
